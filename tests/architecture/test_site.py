"""The documentation as a site: it builds strictly, loads nothing from another host, and all its links resolve."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

HERE = Path(__file__).resolve().parents[2]
needs_mkdocs = pytest.mark.skipif(
    find_spec("mkdocs") is None or find_spec("mkdocstrings") is None or find_spec("material") is None,
    reason='the site needs MkDocs: pip install -e ".[docs]"',
)

NOT_LOADED = ("rel=canonical", "rel=alternate", "rel=edit")
"""Elements `link` that name a page and load nothing."""

DORMANT = {
    "www.w3.org": "the name of the SVG namespace, which is never loaded",
    "unpkg.com": "loaded by the theme only for diagrams in Mermaid and for browsers without ResizeObserver",
    "api.github.com": "loaded by the theme only with a repo_url",
}
"""Hosts that the theme's scripts name, and why no page loads anything from them."""


@dataclass
class Page(HTMLParser):
    """The parts of a page that matter here."""

    file: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    """Targets of `<a href>`."""
    resources: list[str] = field(default_factory=list)
    """Everything that a browser loads for the page."""
    classes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.classes |= set(values.get("class", "").split())
        if tag == "a":
            self.links += [values["href"]] if "href" in values else []
        elif tag != "link" or f"rel={values.get('rel')}" not in NOT_LOADED:
            self.resources += [values[name] for name in ("src", "href", "data", "poster", "action") if name in values]
            self.resources += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]
            self.resources += urls_of(values.get("style", ""))


def urls_of(css: str) -> list[str]:
    """Return what a style sheet loads."""
    return re.findall(r"(?:url\(\s*|@import\s+)[\"']?([^\"')]+)", css)


def is_external(address: str) -> bool:
    """Return whether an address is on another host."""
    return bool(urlsplit(address).netloc)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(HERE)}
    ran = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file) for file in sorted(site.rglob("*.html"))}


@needs_mkdocs
def test_every_page_is_built(pages: dict[Path, Page], site: Path) -> None:
    for source in (HERE / "docs").rglob("*.md"):
        built = source.relative_to(HERE / "docs").with_suffix(".html")
        name = "index.html" if built.name == "README.html" else built.name
        assert site / built.with_name(name) in pages, source


@needs_mkdocs
def test_no_page_loads_anything_from_another_host(pages: dict[Path, Page], site: Path) -> None:
    for file, page in pages.items():
        assert not [one for one in page.resources if is_external(one)], file
        assert not page.classes & {"mermaid", "md-source"}, f"{file}: the theme would load a script for it"
    for sheet in site.rglob("*.css"):
        assert not [one for one in urls_of(sheet.read_text(encoding="utf-8")) if is_external(one)], sheet
    for script in site.rglob("*.js"):
        hosts = set(re.findall(r"[\"'`](?:https?:)?//([\w.-]+\.\w+)", script.read_text(encoding="utf-8")))
        assert hosts <= set(DORMANT), script


@needs_mkdocs
def test_every_link_and_anchor_of_the_site_resolves(pages: dict[Path, Page], site: Path) -> None:
    wrong = []
    for file, page in pages.items():
        for address in [*page.links, *page.resources]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or (file.name == "404.html" and address.startswith("/")):
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                wrong.append(f"{file.relative_to(site)}: {address}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{file.relative_to(site)}: {address} (no such anchor)")
    assert not wrong, "\n".join(wrong)


@needs_mkdocs
def test_the_search_of_the_site_finds_text_of_every_page(pages: dict[Path, Page], site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    for file in pages:
        assert file.name == "404.html" or f'"location":"{file.relative_to(site).as_posix()}' in index, file


def links_of(text: str) -> Iterator[str]:
    """Yield the targets of the links of a Markdown text, code left out."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", text)


def heading_anchors(file: Path) -> set[str]:
    """Return the anchors of a Markdown file's headings, as MkDocs and code hosts make them."""
    text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_the_repository_to_its_files_resolve(name: str) -> None:
    for address in links_of((HERE / name).read_text(encoding="utf-8")):
        parts = urlsplit(address)
        if parts.netloc:
            continue
        target = HERE / parts.path if parts.path else HERE / name
        assert target.exists(), address
        assert not parts.fragment or parts.fragment in heading_anchors(target), address


@needs_mkdocs
def test_every_example_is_on_the_page_of_examples(site: Path) -> None:
    page = html.unescape(re.sub(r"<[^>]*>", "", (site / "examples.html").read_text(encoding="utf-8")))
    for file in (HERE / "examples").glob("*.py"):
        assert file.read_text(encoding="utf-8").strip() in page, file
