"""Find theorems by text or file, and prove them in one call.

::

    from treetop.prove import prove

    print(prove("p & q -> q & p"))
    print(prove("Lists.v", lemma="app_nil"))
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treetop.errors import ConfigError
from treetop.prove.plugins import open_file, plugin_for, read_text
from treetop.prove.prover import Theorem
from treetop.prove.result import ProofResult
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit


def find_theorem(what: str | Path | Theorem, lemma: str | None = None, **options: Any) -> Theorem:
    """Return the theorem of a formula (text), a TPTP problem (`File.p`), a lemma of a Coq file (`File.v`), or a
    `Theorem` itself.

    The options are those of the prover that reads it: `mode="raw"` for formulas and problems.

    >>> find_theorem("p & q -> q & p").name
    'p & q -> q & p'
    """
    if isinstance(what, (str, Path)) and plugin_for(what) is not None:
        return open_file(what, **options).theorem(lemma)
    if lemma is not None:
        raise ConfigError(f"lemmas have names in Coq files (File.v) only: leave out {lemma!r}")
    return read_text(str(what), **options) if isinstance(what, (str, Path)) else what


def prove(
    what: str | Path | Theorem, *, lemma: str | None = None, seconds: float = 60.0, **options: Any
) -> ProofResult:
    """Search for a proof for at most this many seconds. A checker outside the search verifies it.

    `what` is a formula as text, the path of a TPTP problem, the path of a Coq file together with a lemma, or a
    `Theorem`. The options are those of `ProofSearch`: a config, a seed, a provider, workers, ...

    >>> print(prove("p & q -> q & p").summary())
    proved in 1 step, accepted by treetop natural deduction
    """
    with ProofSearch(find_theorem(what, lemma), **options) as search:
        return search.run(Limit(seconds=seconds))
