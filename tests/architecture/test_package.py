"""The package as a whole: what an import loads and costs, what is public, and how large files may be."""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import treetop
from tests.groups import GROUPS, LATE

PACKAGE = Path(treetop.__file__).parent


def test_importing_treetop_loads_nothing_heavy():
    code = "import sys, treetop; print(sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("numba", "llvmlite", "torch", "ray", "rich", "typer", "fastapi", "matplotlib", "pandas"):
        assert f"'{heavy}'" not in loaded


def test_importing_treetop_is_quick(tmp_path):
    """The bound is 0.3 s on an idle machine; here it only keeps out heavy imports, so it is CPU time with a margin."""
    code = "import time; start = time.process_time(); import treetop; print(time.process_time() - start)"
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # the first import compiles the sources
    times = [
        float(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(times) < 0.6


def test_everything_public_is_typed_and_documented():
    for name in treetop.__all__:
        member = getattr(treetop, name)
        if inspect.isclass(member) or inspect.isfunction(member):
            assert inspect.getdoc(member), name
        if inspect.isfunction(member):
            assert inspect.signature(member).return_annotation is not inspect.Signature.empty, name
    assert sorted(treetop.__all__) == sorted(set(treetop.__all__))


def test_the_reference_stays_a_page_and_imports_no_kernel():
    assert len((PACKAGE / "reference" / "search.py").read_text().splitlines()) <= 210
    for file in (PACKAGE / "reference").glob("*.py"):
        assert "treetop.kernels" not in file.read_text(), file


def test_only_the_limits_and_the_clock_itself_read_the_time():
    for package in ("search", "kernels", "tree", "reference", "games", "compiler"):
        for file in (PACKAGE / package).glob("*.py"):
            imports = [
                node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, (ast.Import, ast.ImportFrom))
            ]
            names = {alias.name for node in imports for alias in node.names} | {
                node.module for node in imports if isinstance(node, ast.ImportFrom)
            }
            assert "time" not in names or file.name in ("limits.py", "preparing.py"), file


def test_games_import_nothing_but_what_a_game_is():
    for file in (PACKAGE / "games").glob("*.py"):
        imports = [
            node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        modules = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports}
        own = {name for name in modules if name and name.startswith("treetop")}
        assert all(name.startswith(("treetop.game", "treetop.errors", "treetop.checks")) for name in own), file
        assert not modules & {"numba", "os", "pathlib", "random", "subprocess", "sys", "time"}, file


def test_files_stay_small():
    for file in PACKAGE.glob("**/*.py"):
        assert len(file.read_text().splitlines()) <= 480, file


def test_every_example_is_short_and_runs(tmp_path):
    examples = sorted((PACKAGE.parent / "examples").glob("*.py"))
    assert examples
    for file in examples:
        assert len(file.read_text().splitlines()) <= 65, file
        ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.strip(), file


def test_the_package_of_searches_can_be_imported_and_called():
    import importlib
    import inspect
    import pickle

    import treetop.search.root as root
    from treetop.search import limits
    from treetop.search.search import search

    assert importlib.import_module("treetop.search.root") is root is treetop.search.root
    assert limits.Limit is treetop.Limit
    assert callable(treetop.search)
    assert (
        treetop.search("nim(stones=5)", simulations=200, seed=1).counts.tolist()
        == search("nim(stones=5)", simulations=200, seed=1).counts.tolist()
    )
    assert inspect.signature(treetop.search) == inspect.signature(search)
    assert pickle.loads(pickle.dumps(treetop.search)) is treetop.search


def test_the_page_of_options_is_what_the_parts_say():
    script = Path(__file__).resolve().parents[2] / "scripts" / "write_options.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0


def test_every_group_of_test_files_has_files():
    folder = Path(__file__).resolve().parents[1]
    files = [file.relative_to(folder).as_posix() for file in folder.rglob("test_*.py")]
    for pattern in [*itertools.chain(*GROUPS.values()), LATE]:
        assert any(fnmatch(file, pattern) for file in files), pattern


def test_files_that_the_docs_name_exist():
    root = PACKAGE.parent
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        named = re.findall(
            r"`((?:treetop|tests|bench|docs|examples|fuzz|scripts)/[\w/.-]+\.\w+)", page.read_text(encoding="utf-8")
        )
        assert [name for name in named if not (root / name).exists()] == [], page.name


def test_every_figure_in_the_docs_has_a_command_that_exists():
    ended = subprocess.run(
        [sys.executable, "scripts/figures.py", "--list"], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    )
    listed = [line.split(": ", 1) for line in ended.stdout.splitlines()]
    pages = [PACKAGE.parent / "README.md", *(PACKAGE.parent / "docs").rglob("*.md")]
    assert len(listed) == sum(page.read_text(encoding="utf-8").count("<!-- figure: ") for page in pages) > 0
    for _, command in listed:
        program, first = command.split()[:2]
        assert program == "treetop" or (program == "python" and (PACKAGE.parent / first).exists()), command
