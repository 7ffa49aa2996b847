"""The command line of `examples/game_of_24.py`."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop import ConfigError, Limit, SaveError

from .advisers import Adviser, NoOpinion, RuleOfThumb
from .chat import ChatModel

RECORDED = Path(__file__).parents[1] / "recorded"
USUAL = (4, 9, 10, 13)
_MOST_CALLS = 20_000  # what advisers that cost nothing may be asked
_FREE: dict[str, tuple[Any, str]] = {
    "thumb": (RuleOfThumb, "a rule of thumb"),
    "none": (NoOpinion, "nobody: the search alone"),
}


@dataclass(frozen=True)
class Options:
    """What shall be done, complete and checked."""

    numbers: tuple[int, ...]
    limit: Limit
    seed: int
    adviser: Adviser | None
    """Who is asked; None where a record answers."""
    told: str
    """The same for people."""
    remote: dict[str, Any]
    """The options of `Search.run_remote`."""


def parse(argv: Sequence[str] | None = None) -> Options:
    """Read the command line; what does not fit ends the program with a word on what would."""
    parser = argparse.ArgumentParser(
        prog="game_of_24.py",
        description="Plan with a language model: tree search over the steps of the Game of 24.",
        epilog="Without --model the conversation that is bundled for the numbers is replayed: no network, no key.",
    )
    parser.add_argument("numbers", nargs="*", type=int, metavar="N", help="the numbers; 4 9 10 13 if none are given")
    parser.add_argument("--model", help="ask this model; the key is taken from OPENAI_API_KEY")
    parser.add_argument(
        "--base-url", help="the endpoint, such as http://localhost:8000/v1; OpenAI's own if none is given"
    )
    parser.add_argument("--temperature", type=float, help="of the model's answers; the server's own if none is given")
    parser.add_argument("--budget", type=int, default=20_000, help="tokens to spend (%(default)s)")
    parser.add_argument("--in-flight", type=int, default=8, help="positions that are asked about at once (%(default)s)")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds that an answer may take (%(default)g)")
    parser.add_argument("--retries", type=int, default=2, help="further attempts after a failure (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the search (%(default)s)")
    parser.add_argument("--record", type=Path, help="write the conversation to this file")
    parser.add_argument(
        "--replay", type=Path, help="read the conversation from this file: the search is the same, offline"
    )
    parser.add_argument(
        "--adviser",
        choices=("model", *_FREE),
        default="model",
        help="instead of a model: a rule of thumb, or none at all",
    )
    found = parser.parse_args(argv)
    if found.numbers and (not 2 <= len(found.numbers) <= 6 or min(found.numbers) < 0):
        parser.error("give two to six numbers of at least 0")
    if found.base_url and not found.model:
        parser.error("--base-url needs --model: which model shall be asked there?")
    if found.replay and (found.model or found.record or found.adviser != "model"):
        parser.error("--replay asks nobody: leave --model, --adviser and --record out")
    if found.model and found.adviser != "model":
        parser.error("give --model or --adviser, not both")
    return _free(found) if found.adviser != "model" else _asked(found) if found.model else _replayed(found)


def _live(found: argparse.Namespace) -> dict[str, Any]:
    return {"in_flight": found.in_flight, "timeout": found.timeout, "retries": found.retries, "record": found.record}


def _free(found: argparse.Namespace) -> Options:
    kind, told = _FREE[found.adviser]
    who = kind()
    return Options(
        tuple(found.numbers) or USUAL, Limit(calls=_MOST_CALLS), found.seed, Adviser(who, who), told, _live(found)
    )


def _asked(found: argparse.Namespace) -> Options:
    key = os.environ.get("OPENAI_API_KEY")
    if key is None and found.base_url is None:
        raise ConfigError("OpenAI's endpoint needs a key in OPENAI_API_KEY; for another one, say --base-url")
    more = {} if found.temperature is None else {"temperature": found.temperature}
    model = ChatModel(
        found.model, base_url=found.base_url, api_key=key or "none", options=more
    )  # local servers want no key, but a word in its place
    told = f"{found.model} at {found.base_url or 'OpenAI'}"
    return Options(
        tuple(found.numbers) or USUAL, Limit(cost=found.budget), found.seed, Adviser(model, model), told, _live(found)
    )


def _replayed(found: argparse.Namespace) -> Options:
    """A record knows its numbers, its budget, its seed and how many calls were in flight."""
    file: Path = found.replay or RECORDED / f"game_of_24_{'_'.join(map(str, sorted(found.numbers or USUAL)))}.jsonl"
    if not file.exists():
        there = ", ".join(" ".join(other.stem.split("_")[3:]) for other in sorted(RECORDED.glob("game_of_24_*.jsonl")))
        raise SaveError(
            f"{file} does not exist. Conversations are bundled for {there}; for other numbers, say --model (and --base-url) or --adviser thumb"
        )
    try:
        header = json.loads(file.read_text(encoding="utf-8").partition("\n")[0])
        numbers = tuple(map(int, header["problem"].rpartition(":")[2].split()))
        kind, _, budget = header["limit"].partition(" ")
        limit = Limit(cost=float(budget)) if kind == "cost" else Limit(calls=_MOST_CALLS)
        seed, in_flight = int(header["seed"]), int(header["in_flight"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SaveError(f"{file} is no conversation of this program") from None
    if found.numbers and sorted(found.numbers) != sorted(numbers):
        raise SaveError(f"{file} is about {' '.join(map(str, numbers))}")
    return Options(numbers, limit, seed, None, f"the record {file.name}", {"in_flight": in_flight, "replay": file})
