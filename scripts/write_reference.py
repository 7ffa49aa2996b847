"""Write docs/reference/: a page for each namespace, with an entry for each public name, which MkDocs fills in.

python scripts/write_reference.py            write the pages
python scripts/write_reference.py --check    exit with 1 if a page is not up to date
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import treetop

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
NAMESPACES = (
    "rules", "evaluators", "states", "stopping", "results", "players", "arena", "train", "prove", "lab", "adapters",
    "bits", "boards", "records", "errors",
)  # fmt: skip
CALLABLE = {
    "search": "treetop.search.search.search",
    "prove": "treetop.prove.theorems.prove",
    "train": "treetop.train.run.train",
    "train.muzero": "treetop.train.muzero.run.muzero",
}
"""Packages that can be called, and the functions behind them."""
INHERITS = ("Search", "SearchResult")
"""Classes whose users call methods of a class that is not public."""
CONSTANTS = {"CHANCE": "treetop.types.CHANCE", "SIMULTANEOUS": "treetop.types.SIMULTANEOUS"}


def public_names(namespace: str) -> list[str]:
    """Return the public names of a namespace, the empty one being `treetop` itself."""
    module = getattr(treetop, namespace) if namespace else treetop
    if namespace == "errors":
        return [name for name, one in vars(module).items() if isinstance(one, type) and issubclass(one, Exception)]
    hidden = {"__version__", *NAMESPACES} - set(CALLABLE) if not namespace else set()
    return sorted((name for name in module.__all__ if name not in hidden), key=str.lower)


def home_of(namespace: str, name: str) -> str:
    """Return the path of the definition of a public name."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    for path in ((name,) if namespace in ("", name) else ()) + (f"{namespace}.{name}",):
        if path in CALLABLE:
            return CALLABLE[path]
    member: Any = getattr(getattr(treetop, namespace) if namespace else treetop, name)
    return f"{member.__module__}.{member.__qualname__}"


def is_written(home: str) -> bool:
    """Return whether a definition stands in the source, where MkDocs can read it; some presets are made at run time."""
    module, _, name = home.rpartition(".")
    source = importlib.import_module(module).__file__
    assert source is not None
    return any(_defines(statement, name) for statement in ast.parse(Path(source).read_text(encoding="utf-8")).body)


def _defines(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return statement.name == name
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def entry(namespace: str, name: str, seen: dict[str, str]) -> str:
    """Return the entry of a public name; a name that has one on another page gets a link."""
    title, home = ".".join(["treetop", *([namespace] if namespace else []), name]), home_of(namespace, name)
    heading = f'## {title} {{ #{title} data-toc-label="{name}" }}'
    if home in seen:
        return f"{heading}\n\nThe same as [`{seen[home]}`][{home}].\n"
    seen[home] = title
    if is_written(home):
        # The options of a part are on the page docs/options.md; its other members are for the search.
        members = "      members: false\n" if namespace == "rules" else ""
        members += "      inherited_members: true\n" if name in INHERITS else ""
        return f"::: {home}\n    options:\n      heading: {title}\n      toc_label: {name}\n{members}"
    member = getattr(getattr(treetop, namespace), name)
    text, prompt, example = (inspect.getdoc(member) or "").partition(">>>")
    signature = f"```python\n{name}{inspect.signature(member)}\n```"
    return "\n\n".join([heading, signature, text.strip(), f"```pycon\n{prompt}{example.rstrip()}\n```"]) + "\n"


def pages() -> dict[str, str]:
    """Return the content of each page by its name."""
    seen: dict[str, str] = {}
    written = {}
    for namespace in ("", *NAMESPACES):
        module = f"treetop.{namespace}" if namespace else "treetop"
        hidden = ("show_root_heading", "show_root_toc_entry", "members")
        options = "".join(f"      {option}: false\n" for option in hidden)
        head = [f"# {module}\n", f"::: {module}\n    options:\n{options}"]
        entries = [entry(namespace, name, seen) for name in public_names(namespace)]
        written[f"{namespace or 'treetop'}.md"] = "\n".join([*head, *entries])
    return written


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a page is not up to date")
    check = parser.parse_args().check
    old = [
        name
        for name, content in pages().items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != content
    ]
    if check and old:
        sys.stderr.write(f"docs/reference/ is not up to date ({', '.join(old)}): run python {sys.argv[0]}\n")
        return 1
    FOLDER.mkdir(exist_ok=True)
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
