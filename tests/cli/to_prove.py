"""What the tests of `treetop prove` prove."""

from __future__ import annotations

import shutil

import pytest

needs_coq = pytest.mark.skipif(shutil.which("coqidetop.opt") is None, reason="needs Coq: the Debian package `coq`")

LEMMAS = """\
Inductive num : Set := zero : num | next : num -> num.
Fixpoint plus (n m : num) : num := match n with zero => m | next k => next (plus k m) end.

Lemma left_zero : forall n : num, plus zero n = n.
Admitted.

Lemma not_true : forall n m k : num, plus n (plus m k) = plus (plus m (next n)) k.
Admitted.

Lemma right_zero : forall n : num, plus n zero = n.
Admitted.
"""

PEIRCE = "fof(c, conjecture, ((p => q) => p) => p).\n"
EASY = "fof(a, axiom, p & q).\nfof(c, conjecture, q & p).\n"
HARD = "fof(c, conjecture, ((p1 <=> p2) => (p1 & p2 & p3)) & ((p2 <=> p3) => (p1 & p2 & p3)) & ((p3 <=> p1) => (p1 & p2 & p3)) => (p1 & p2 & p3)).\n"
