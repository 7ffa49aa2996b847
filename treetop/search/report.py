"""Reports: everything that is needed to repeat a search and to judge a claim about it."""

from __future__ import annotations

import functools
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treetop.game.position import Position
from treetop.search.limits import Limit

if TYPE_CHECKING:
    from treetop.search.session import Session


@dataclass(frozen=True)
class Usage:
    """The resources that a search had used at the time of a result. The rest of a report is built on demand."""

    method: str
    """The kind of search: of a tree, of information sets or of determinizations."""
    limit: Limit | None
    """The limit of the last run; None where leaves were asked for."""
    simulations: int
    elapsed: float
    stopped: str
    """Why the last run ended."""
    tree_simulations: int
    sizes: tuple[tuple[int, int], ...]
    """For each tree its nodes, and the bytes of a node."""
    searches: int = 1
    """How many searches of the same position had this limit, each with a tree of its own."""

    @property
    def asked(self) -> str:
        """The limit as text."""
        asked = "ask and tell" if self.limit is None else str(self.limit)
        return asked if self.searches == 1 else f"{asked} in each of {self.searches:,} searches"

    @property
    def nodes(self) -> int:
        """The nodes of all trees."""
        return sum(nodes for nodes, _ in self.sizes)

    @property
    def bytes(self) -> int:
        """The memory of all trees."""
        return sum(nodes * each for nodes, each in self.sizes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        names = ("method", "asked", "simulations", "elapsed", "stopped", "tree_simulations", "nodes", "bytes")
        return {name: getattr(self, name) for name in names}

    @property
    def stopped_early(self) -> bool:
        """Whether the run ended for another reason than its limit."""
        return self.stopped not in ("", "the limit was reached")

    @classmethod
    def of(cls, search: Session) -> Usage:
        """Return what a search has used up to now."""
        limit, simulations, elapsed, stopped = search._last or (None, search.simulations, 0.0, "")
        trees = search._driver.trees
        return cls(
            search._driver.method,
            limit,
            simulations,
            elapsed,
            stopped,
            search.simulations,
            tuple((tree.size, tree.bytes_per_node) for tree in trees),
        )


@dataclass(frozen=True)
class Report:
    """The settings, budget and environment of a search. Prints as a list; `to_dict` returns plain values."""

    game: str
    rules_digest: str
    start: str
    """The start of the moves: "the game's start", or the fields of a position that was set up."""
    moves: list[str]
    """The moves that led to the root."""
    rule: str
    c: float | None
    c_base: float | None
    options: dict[str, Any]
    """All settings that differ from their defaults."""
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
    batch_size: int
    threads: int
    deterministic: bool
    usage: Usage
    versions: dict[str, str]
    machine: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = asdict(self)
        plain.pop("usage")
        return plain | self.usage.to_dict()

    def __str__(self) -> str:
        return "\n".join(f"{key:18} {value}" for key, value in self.to_dict().items())


def report_of(search: Session, position: Position, usage: Usage) -> Report:
    """Return the report of a search of a position, at the time of a result."""
    config = search.config
    together: dict[str, Any] = {"threads": 1, "deterministic": False} | search.together
    origin: dict[str, Any] = search._driver.origin()
    return Report(
        game=search.game.name,
        **origin,
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
        tie_break=config.tie_break if isinstance(config.tie_break, str) else "a custom function",
        seed=search.seed,
        evaluation_cache=str(search.evaluator) if hasattr(search.evaluator, "hit_rate") else None,
        expand_after=search.expand_after,
        max_depth=config.growth.max_depth,
        max_nodes=config.growth.max_nodes,
        fpu=_fpu(search),
        batch_size=config.batch_size,
        **together,
        usage=usage,
        versions=versions(),
        machine=machine(),
    )


def _fpu(search: Session) -> float | str | None:
    """Return the first-play urgency of a search; for PUCT without one, its default."""
    fpu: float | str | None = getattr(search.config.rule, "fpu", None)
    return float(search._driver.control[0]["fpu"]) if fpu is None and search.config.rule.name == "puct" else fpu


@functools.cache
def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of some packages; by default of those that a search uses."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and rarely needed

    found = {"python": platform.python_version()}
    for package in packages or ("treetop", "numba", "llvmlite", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed as a package"
    return found


@functools.cache
def machine() -> str:
    """Return the system and the processor, in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{platform.system()} {platform.machine()}, {model}"
