"""Lemmas that are considered at every goal: those of the file itself, and those of libraries that are about logic
alone.

Other lemmas are found by the symbols of a goal. That misses statements made of symbols that nearly every statement has,
such as `forall n m : nat, n = m`, functional extensionality or `not_all_ex_not`. So they are fetched once, where the
lemma is stated. In the libraries about numbers and lists no such lemma is worth fetching: what they state with
constructors alone is proved by `discriminate`, `injection` or cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from treetop.errors import ProverError
from treetop.prove.coq.goals import Premise
from treetop.prove.coq.syntax import Term, parse
from treetop.prove.coq.terms import conclusion, free_names, head
from treetop.prove.coq.views import DATA_FAMILIES
from treetop.prove.coq.ways import COMMON

_LIBRARY = re.compile(r"^\s*([\w.']+)\s*$", re.MULTILINE)
_LOGIC = "Coq.Logic."
_MOST_LIBRARIES = (
    12  # libraries that are not Coq's own are searched for all statements; if there are more of them, for axioms only
)
_GENERATED = re.compile(r"(.+)_(?:ind|rec|rect|sind|case|caset)")

Search = Callable[[str], list[Premise]]


def premises_in_scope(query: Callable[[str], list[str]], search: Search) -> list[Premise]:
    """Return the statements of the file itself, in the order of `Search`, then those of libraries that consist of
    common symbols.
    """
    try:
        libraries = _LIBRARY.findall("\n".join(query("Print Libraries.")))
        own = statements(search(f"_ outside {' '.join(libraries)}" if libraries else "_"))
        return [
            *(replace(premise, own=True) for premise in own),
            *statements(_of_libraries(libraries, search), common=True),
        ]
    except ProverError:  # the prover cannot list what is in scope; lemmas are still found by their symbols
        return []


def _of_libraries(libraries: list[str], search: Search) -> list[Premise]:
    others = [library for library in libraries if not library.startswith("Coq.")]
    asked = [library for library in libraries if library.startswith(_LOGIC)]
    found = search(f"_ inside {' '.join(asked)}") if asked else []
    if others:
        found += search(f"{'_' if len(others) <= _MOST_LIBRARIES else 'is:Axiom'} inside {' '.join(others)}")
    return found


def statements(found: list[Premise], *, common: bool = False) -> list[Premise]:
    """Return the premises that are statements: no types, functions or generated induction principles.

    `common`: only those made of common symbols.
    """
    sorts = {premise.name: conclusion(parse(premise.statement)) for premise in found}
    families = {name for name, sort in sorts.items() if sort.kind == "sort"}
    data = {name for name in families if sorts[name].label in ("Set", "Type")}
    kept = []
    for premise in found:
        generated = _GENERATED.fullmatch(premise.name)
        if premise.name in families or (generated is not None and generated[1] in families):
            continue
        statement = parse(premise.statement)
        if _states(statement, data) and (not common or free_names(statement) <= COMMON):
            kept.append(premise)
    return kept


def _states(statement: Term, data: set[str]) -> bool:
    """Return whether a type is a statement.

    Types of data are known by name; a variable of the statement must be a proposition.
    """
    kinds: dict[str, Term] = {}
    while statement.kind == "forall":
        kinds[statement.names[0]] = statement.parts[0]
        statement = statement.parts[1]
    symbol = head(statement)
    if symbol in kinds:
        sort = conclusion(kinds[symbol])
        return sort.kind == "sort" and sort.label == "Prop"
    return (
        statement.kind not in ("sort", "opaque")
        and symbol not in data
        and symbol.rpartition(".")[2] not in DATA_FAMILIES
    )
