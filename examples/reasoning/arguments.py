"""The command line of `examples/game_of_24.py`."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop import Limit
from treetop.errors import ConfigError, SaveError

from .advisers import Adviser, NoOpinion, RuleOfThumb
from .chat import ChatModel

RECORDED = Path(__file__).parents[1] / "recorded"
USUAL = (4, 9, 10, 13)
_MOST_CALLS = 20_000  # the greatest number of calls of advisers that cost nothing
_FREE: dict[str, tuple[Any, str]] = {
    "thumb": (RuleOfThumb, "a rule of thumb"),
    "none": (NoOpinion, "nobody: the search alone"),
}


@dataclass(frozen=True)
class Options:
    """The checked options of the command line."""

    numbers: tuple[int, ...]
    limit: Limit
    seed: int
    adviser: Adviser | None
    """The adviser, or None if a record is replayed."""
    source: str
    """A description of the adviser or the record."""
    remote: dict[str, Any]
    """The options of `Search.run_remote`."""


def parse(argv: Sequence[str] | None = None) -> Options:
    """Return the options of the command line; invalid ones end the program with a message."""
    parser = argparse.ArgumentParser(
        prog="game_of_24.py",
        description="Plan with a language model: tree search over the steps of the Game of 24.",
        epilog="Without --model the bundled conversation for the numbers is replayed, without network and key.",
    )
    parser.add_argument("numbers", nargs="*", type=int, metavar="N", help="the numbers (default: 4 9 10 13)")
    parser.add_argument("--model", help="the name of the model; the key is taken from OPENAI_API_KEY")
    parser.add_argument("--base-url", help="the endpoint, such as http://localhost:8000/v1 (default: that of OpenAI)")
    parser.add_argument("--temperature", type=float, help="the temperature of answers (default: that of the server)")
    parser.add_argument("--budget", type=int, default=20_000, help="the budget in tokens (default: %(default)s)")
    parser.add_argument("--in-flight", type=int, default=8, help="evaluations in flight (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for an answer (default: %(default)g)")
    parser.add_argument("--retries", type=int, default=2, help="attempts after a failure (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the search (default: %(default)s)")
    parser.add_argument("--record", type=Path, help="write the conversation to this file")
    parser.add_argument(
        "--replay", type=Path, help="read the conversation from this file: the search is the same, offline"
    )
    parser.add_argument(
        "--adviser",
        choices=("model", *_FREE),
        default="model",
        help="instead of a model: a rule of thumb, or none",
    )
    found = parser.parse_args(argv)
    if found.numbers and (not 2 <= len(found.numbers) <= 6 or min(found.numbers) < 0):
        parser.error("give two to six numbers of at least 0")
    if found.base_url and not found.model:
        parser.error("--base-url needs --model, the name of the model")
    if found.replay and (found.model or found.record or found.adviser != "model"):
        parser.error("--replay uses recorded answers: remove --model, --adviser and --record")
    if found.model and found.adviser != "model":
        parser.error("give --model or --adviser, not both")
    return _free(found) if found.adviser != "model" else _asked(found) if found.model else _replayed(found)


def _live(found: argparse.Namespace) -> dict[str, Any]:
    return {"in_flight": found.in_flight, "timeout": found.timeout, "retries": found.retries, "record": found.record}


def _free(found: argparse.Namespace) -> Options:
    kind, source = _FREE[found.adviser]
    who = kind()
    return Options(
        tuple(found.numbers) or USUAL, Limit(calls=_MOST_CALLS), found.seed, Adviser(who, who), source, _live(found)
    )


def _asked(found: argparse.Namespace) -> Options:
    key = os.environ.get("OPENAI_API_KEY")
    if key is None and found.base_url is None:
        raise ConfigError("OpenAI's endpoint needs a key in OPENAI_API_KEY; for another endpoint, use --base-url")
    more = {} if found.temperature is None else {"temperature": found.temperature}
    # Local servers need no key, but the client requires a text.
    model = ChatModel(found.model, base_url=found.base_url, api_key=key or "none", options=more)
    source = f"{found.model} at {found.base_url or 'OpenAI'}"
    return Options(
        tuple(found.numbers) or USUAL, Limit(cost=found.budget), found.seed, Adviser(model, model), source, _live(found)
    )


def _replayed(found: argparse.Namespace) -> Options:
    """Return the options of a record: its numbers, budget, seed and number of evaluations in flight."""
    file: Path = found.replay or RECORDED / f"game_of_24_{'_'.join(map(str, sorted(found.numbers or USUAL)))}.jsonl"
    if not file.exists():
        there = ", ".join(" ".join(other.stem.split("_")[3:]) for other in sorted(RECORDED.glob("game_of_24_*.jsonl")))
        raise SaveError(
            f"{file} does not exist. Conversations are bundled for {there}; for other numbers, use --model (and "
            "--base-url) or --adviser thumb"
        )
    try:
        header = json.loads(file.read_text(encoding="utf-8").partition("\n")[0])
        numbers = tuple(map(int, header["problem"].rpartition(":")[2].split()))
        kind, _, budget = header["limit"].partition(" ")
        limit = Limit(cost=float(budget)) if kind == "cost" else Limit(calls=_MOST_CALLS)
        seed, in_flight = int(header["seed"]), int(header["in_flight"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SaveError(f"{file} is not a conversation of this program") from None
    if found.numbers and sorted(found.numbers) != sorted(numbers):
        raise SaveError(f"{file} is about {' '.join(map(str, numbers))}")
    return Options(numbers, limit, seed, None, f"the record {file.name}", {"in_flight": in_flight, "replay": file})
