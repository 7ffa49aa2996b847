"""Theorems by what people call them, and the shortest way to a proof.

::

    from treetop.prove import prove

    print(prove("p & q -> q & p"))
    print(prove("Lists.v", lemma="app_nil"))
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from treetop.errors import ConfigError
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.limits import ProofLimit
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.prover import Theorem
from treetop.prove.result import ProofResult
from treetop.prove.search import ProofSearch


def find_theorem(what: str | Path | Theorem, lemma: str | None = None, **options: Any) -> Theorem:
    """The theorem that is meant: a formula as text, a TPTP problem (`File.p`), a lemma of a file of Coq (`File.v`), or one that is a theorem already.

    The options are those of `LogicTheorem`, for formulas and problems: `mode="raw"`.
    """
    if not isinstance(what, (str, Path)):
        _refuse_lemma(lemma, "a theorem that is one already")
        return what
    file = Path(what)
    if file.suffix == ".v":
        if lemma is None:
            raise ConfigError(f"say which lemma of {what} is to be proved")
        return CoqTheorem(file, lemma)
    _refuse_lemma(lemma, repr(str(what)))
    if file.suffix == ".p":
        problem: Theorem = LogicTheorem.load(file, **options)
        return problem
    read = LogicTheorem.read(str(what), **options)
    return replace(read, name=read.statement.text)


def prove(
    what: str | Path | Theorem, *, lemma: str | None = None, seconds: float = 60.0, **options: Any
) -> ProofResult:
    """Look for a proof for so many seconds at most, and let a checker outside the search judge it.

    `what` is a formula as text, the path of a TPTP problem, the path of a file of Coq together with a lemma, or a `Theorem`. The options are
    those of `ProofSearch`: a config, a seed, a provider, workers, ...

    >>> print(prove("p & q -> q & p").summary())
    proved in 1 step, accepted by treetop natural deduction
    """
    with ProofSearch(find_theorem(what, lemma), **options) as search:
        return search.run(ProofLimit(seconds=seconds))


def _refuse_lemma(lemma: str | None, what: str) -> None:
    if lemma is not None:
        raise ConfigError(f"lemmas are named in files of Coq, whose names end with .v, not in {what}")
