"""Write figures and printed outputs into README.md and docs/, from the commands that stand beside them.

    python scripts/figures.py                 all of them; the benchmarks take some minutes
    python scripts/figures.py --list          which there are
    python scripts/figures.py --only search   those whose command contains a text

A figure starts with a line `<!-- figure: COMMAND -->` and ends with `<!-- end -->`. COMMAND is run in a shell, with
`python` and `treetop` of this environment; what it prints replaces the lines between. A command that prints a Markdown
table (it has `--markdown`) is inserted as it is, any other output as a block of code.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIGURE = re.compile(r"(<!-- figure: (?P<command>[^\n]+?) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that may have figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands() -> dict[str, Path]:
    """Return the commands of all figures, and the page of each. A command stands in one place only."""
    found: dict[str, Path] = {}
    for page in pages():
        for figure in FIGURE.finditer(page.read_text(encoding="utf-8")):
            command = figure["command"]
            if command in found:
                raise SystemExit(f"{command} stands in {found[command].name} and in {page.name}: keep one of them")
            found[command] = page
    return found


def output(command: str) -> str:
    """Return what a command prints, as it is inserted into a page."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    ended = subprocess.run(command, shell=True, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{command} ended with exit code {ended.returncode}: nothing was written")
    printed = "\n".join(line.rstrip() for line in ended.stdout.rstrip().splitlines())
    return f"{printed}\n" if "--markdown" in command else f"```\n{printed}\n```\n"


def write(command: str, page: Path) -> None:
    """Run a command and write its output into its page."""
    printed = output(command)

    def replaced(figure: re.Match[str]) -> str:
        return figure[1] + printed + figure[4] if figure["command"] == command else figure[0]

    page.write_text(FIGURE.sub(replaced, page.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Write the chosen figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only list the commands and their pages")
    parser.add_argument("--only", metavar="TEXT", default="", help="only figures whose command contains TEXT")
    options = parser.parse_args()
    for command, page in commands().items():
        if options.only in command:
            print(f"{page.relative_to(ROOT)}: {command}", flush=True)
            if not options.list:
                write(command, page)


if __name__ == "__main__":
    main()
