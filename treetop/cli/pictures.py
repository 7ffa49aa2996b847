"""The files of `treetop search` that show a result: a page, and the tree as SVG or for Graphviz."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import FAINT, errors, refuse_missing_folder
from treetop.errors import ConfigError
from treetop.files import replacing

if TYPE_CHECKING:
    from treetop.search.result import SearchResult

FILES = "Files"  # the heading of `--help`

Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write a page with the board, the moves and the tree; it opens from the disk, and loads nothing.",
        rich_help_panel=FILES,
    ),
]
Svg = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Write a picture of the tree.", rich_help_panel=FILES),
]
Dot = Annotated[
    Path | None,
    typer.Option("--dot", metavar="FILE", help="Write the tree in the language of Graphviz.", rich_help_panel=FILES),
]


@dataclass(frozen=True)
class Pictures:
    """The files that were asked for."""

    html: Path | None
    svg: Path | None
    dot: Path | None

    def refuse(self, *, trees_elsewhere: bool) -> None:
        """Raise an error, before the search, where a file could not be written after it."""
        given = [path for path in (self.html, self.svg, self.dot) if path is not None]
        for path in given:
            refuse_missing_folder(path)
        if len(set(given)) < len(given):
            raise ConfigError("--html, --svg and --dot: give each a file of its own")
        if trees_elsewhere and (self.svg is not None or self.dot is not None):
            raise ConfigError("--workers and --on: the trees stay with the workers; remove --svg and --dot")

    def write(self, result: SearchResult) -> None:
        """Write the files, each completely or not at all."""
        for path, draw in ((self.html, result.html), (self.svg, result.svg), (self.dot, result.dot)):
            if path is not None:
                with replacing(path) as file:
                    file.write(draw().encode("utf-8"))
                errors().print(f"written: {path}", style=FAINT, soft_wrap=True)
