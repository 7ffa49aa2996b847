"""Write docs/options.md: every option of every part of a search, derived from the parts.

python scripts/write_options.py            write the page
python scripts/write_options.py --check    exit with 1 if the page is not up to date
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from treetop.kernels.parts import Option, Part
from treetop.kernels.rules.own import OwnRule
from treetop.search.config import PLAIN, SLOTS, SearchConfig, parts_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "options.md"
HEAD = """# Every option of a search

A search is composed of parts (`SearchConfig`), and each part has options. Presets, players, `--rule` and
`treetop.configure` take all of them by the flat names of this page: `tt.puct(c=1.5, fpu="parent", solver=True)`. An
option that no chosen part has is an error that names the part it belongs to. This page is generated from the parts by
`python scripts/write_options.py`.

Parts can be composed directly, with their own field names where these differ:

```python
tt.SearchConfig(rule=tt.rules.Puct(c=1.5), backup=tt.rules.Max(), noise=tt.rules.Noise(fraction=0.25))
```
"""


def page() -> str:
    """Return the whole page."""
    lines = [HEAD]
    for slot in SLOTS:
        lines += [f"## {slot}", "", f"{_doc(slot)}", ""]
        for part in parts_of(slot):
            lines += _part(slot, part)
    lines += ["## Options of the search itself", "", "| option | default | |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {_default(SearchConfig.__dataclass_fields__[name].default)} | {_doc(name)} |" for name in PLAIN
    ]
    others = (
        "`seed`, `threads` and `deterministic` ([threads](threads.md)) and `tier` ([two tiers of compiled code]"
        "(compiled-games.md#two-tiers-of-compiled-code)) are arguments of `Search`, not of a rule."
    )
    lines += ["", others]
    return "\n".join([*lines, ""])


def _doc(slot: str) -> str:
    import ast
    import inspect

    body = ast.parse(inspect.getsource(SearchConfig)).body[0]
    assert isinstance(body, ast.ClassDef)
    for before, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and before.target.id == slot:
            return str(ast.literal_eval(after.value)) if isinstance(after, ast.Expr) else ""
    raise KeyError(slot)


def _part(slot: str, part: type[Part]) -> list[str]:
    choice = len(parts_of(slot)) > 1
    title = (part.__doc__ or "").strip().splitlines()[0]
    name = "a rule of your own" if part is OwnRule else f'`{slot}="{part.name}"`' if choice else ""
    lines = [
        f"**{name}** (`tt.rules.{part.__name__}`): {title}" if name else f"`tt.rules.{part.__name__}`: {title}",
        "",
    ]
    rows = []
    for one in fields(part):
        option: Option = one.metadata["option"]
        flat = option.flat or one.name
        if flat != "rule_function":
            field = "" if flat == one.name else f" (field `{one.name}`)"
            rows.append(f"| `{flat}`{field} | {_default(one.default)} | {_allowed(option)} | {option.doc} |")
    if rows:
        lines += ["| option | default | allowed | |", "|---|---|---|---|", *rows, ""]
    return lines


def _default(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else f"`{value!r}`"


def _allowed(option: Option) -> str:
    bounds = option.bounds
    words = ", ".join(f'`"{word}"`' for word in option.choices)
    kinds = {"share": "0 to 1", "flag": "true or false", "choice": "", "any": ""}
    number = kinds.get(option.kind, "a whole number" if option.kind == "whole" else "a number")
    if bounds.get("low") is not None:
        number += f" of at least {bounds['low']:g}"
    if bounds.get("above") is not None:
        number += f" above {bounds['above']:g}"
    return ", ".join(part for part in (number, words) if part)


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is not up to date")
    if parser.parse_args().check:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
