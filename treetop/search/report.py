"""Everything that is needed to run a search again, and to judge a claim made from it."""

from __future__ import annotations

import functools
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treetop.game.position import Position

if TYPE_CHECKING:
    from treetop.search.session import Session


@dataclass(frozen=True)
class Usage:
    """What a search had used up at a certain moment. Taken with every result; the rest of a report is made when it is asked for."""

    asked: str
    simulations: int
    elapsed: float
    stopped: str
    """Why the last run ended."""
    tree_simulations: int
    nodes: int
    bytes: int

    @property
    def told(self) -> bool:
        """Whether it ended for a reason that people would not expect."""
        return self.stopped not in ("", "the limit was reached")

    @classmethod
    def of(cls, search: Session) -> Usage:
        """What a search has used up now."""
        limit, simulations, elapsed, stopped = search._last or (None, search.simulations, 0.0, "")
        asked = "ask and tell" if limit is None else str(limit)
        trees = search._driver.trees
        return cls(
            asked,
            simulations,
            elapsed,
            stopped,
            search.simulations,
            sum(tree.size for tree in trees),
            sum(tree.nbytes for tree in trees),
        )


@dataclass(frozen=True)
class Report:
    """A search's settings, budget and surroundings. Prints as a list; `to_dict` gives plain values."""

    game: str
    rules_digest: str
    start: str
    """Where the moves begin: the game's start, or the set-up as its fields."""
    moves: list[str]
    """What had been played when the search began."""
    rule: str
    c: float | None
    c_base: float | None
    options: dict[str, Any]
    """All settings that are not the usual ones."""
    backup: str
    final: str
    temperature: float | None
    tie_break: str
    seed: int
    evaluator: str
    evaluation_cache: str | None
    expand_after: int
    max_depth: int | None
    max_nodes: int | None
    fpu: float | str | None
    usage: Usage
    versions: dict[str, str]
    machine: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        usage = plain.pop("usage")
        return {**plain, **usage}

    def __str__(self) -> str:
        return "\n".join(f"{key:18} {value}" for key, value in self.to_dict().items())


def report_of(search: Session, position: Position, usage: Usage) -> Report:
    """The report of a search of a position, at the moment of a result."""
    config = search.config
    return Report(
        game=search.game.name,
        **search._driver.origin(),
        moves=position.moves(),
        rule=config.rule.name,
        c=getattr(config.rule, "c", None),
        c_base=getattr(config.rule, "c_base", None),
        options={
            key: value if isinstance(value, (bool, int, float, str)) else str(value)
            for key, value in config.flat().items()
        },
        backup=config.backup.name,
        final=config.final.name,
        temperature=getattr(config.final, "temperature", None),
        tie_break=config.tie_break if isinstance(config.tie_break, str) else "a function of the caller's",
        seed=search.seed,
        evaluation_cache=str(search.evaluator) if hasattr(search.evaluator, "hit_rate") else None,
        expand_after=search.expand_after,
        max_depth=config.growth.max_depth,
        max_nodes=config.growth.max_nodes,
        fpu=_fpu(search),
        usage=usage,
        versions=versions(),
        machine=machine(),
    )


def _fpu(search: Session) -> float | str | None:
    """Return the first-play urgency of a search: for PUCT with the default in its place."""
    fpu: float | str | None = getattr(search.config.rule, "fpu", None)
    return float(search._driver.control[0]["fpu"]) if fpu is None and search.config.rule.name == "puct" else fpu


@functools.cache
def versions(*packages: str) -> dict[str, str]:
    """Which Python this is, and which versions of these packages; if none are named, of those that a search is made with."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and seldom needed

    found = {"python": platform.python_version()}
    for package in packages or ("treetop", "numba", "llvmlite", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed as a package"
    return found


@functools.cache
def machine() -> str:
    """The system and the processor, in a line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{platform.system()} {platform.machine()}, {model}"
