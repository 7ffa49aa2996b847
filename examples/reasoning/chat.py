"""A language model as proposer and verifier, through any endpoint that speaks the chat protocol of OpenAI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Self

from treetop.errors import EvaluationError, MissingExtraError

from .advisers import Proposal, Verdict
from .puzzle import State, Step, shown

RULES = (
    "We play the Game of 24. Some numbers are left. A step takes two of them and puts their sum, difference, product "
    "or quotient in their place. When one number is left it must be 24. Fractions such as 8/3 are allowed."
)
PROPOSE = (
    "Name up to {count} promising next steps, one a line and nothing else, each with a weight from 1 to 99 after a "
    "bar. Put fractions and negative numbers in brackets. Example of a line: 8 / (1/3) = 24 | 90"
)
VERIFY = "How likely can 24 still be reached from these numbers, in percent? End with one line such as: chance: 35"

_THOUGHTS = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_CHANCE = re.compile(r"chance\W*(\d+(?:\.\d+)?)", re.IGNORECASE)
_SIGNS = {
    "*": "x\N{MULTIPLICATION SIGN}\N{MIDDLE DOT}",
    "/": "\N{DIVISION SIGN}",
    "-": "\N{MINUS SIGN}\N{EN DASH}",
    "": " \t()`\\",
}
_SAME = str.maketrans({written: meant for meant, all_of_them in _SIGNS.items() for written in all_of_them})
_ITEM = re.compile(r"^\s*(?:[-*•]\s+|\d+[.)]\s+|\[|`)?")
_USUAL_WEIGHT = 50.0
_SHOWN = 80  # the number of characters of an unreadable answer that an error shows


class ChatModel:
    """A client of a model. Errors of the network are raised: the search retries, and after that the node fails."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        count: int = 5,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingExtraError("language models need the package openai", extra="llm") from error
        self._openai = openai
        self.model, self.count = model, count
        self._endpoint: dict[str, Any] = {"base_url": base_url, "api_key": api_key}
        self._options = dict(options or {})
        self._client: Any = None

    async def __aenter__(self) -> Self:
        # The search has its own retries and timeouts.
        self._client = self._openai.AsyncOpenAI(**self._endpoint, max_retries=0, timeout=None)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.close()

    async def propose(self, state: State, steps: Sequence[Step]) -> Proposal:
        """Ask for steps. Illegal ones are removed and reported; without a legal one there is no preference."""
        said, tokens = await self._ask(PROPOSE.format(count=self.count), state)
        weights, rejected = read_steps(said, steps)
        return Proposal(weights, tokens, tuple(rejected), said)

    async def verify(self, state: State) -> Verdict:
        """Ask for a probability. An answer without one is an error and is retried: a guess would mislead the search."""
        said, tokens = await self._ask(VERIFY, state)
        chance = read_chance(said)
        if chance is None:
            raise EvaluationError(f"the verifier gave no probability: {said[:_SHOWN]!r}", cost=tokens)
        return Verdict(chance, tokens, said)

    async def _ask(self, task: str, state: State) -> tuple[str, int]:
        messages = [
            {"role": "system", "content": f"{RULES}\n{task}"},
            {"role": "user", "content": f"Numbers left: {shown(state)}"},
        ]
        response = await self._client.chat.completions.create(model=self.model, messages=messages, **self._options)
        said = (response.choices[0].message.content or "") if response.choices else ""
        if response.usage is not None:
            return said, int(response.usage.total_tokens)
        # The server does not count tokens: about four characters a token.
        return said, (sum(len(message["content"]) for message in messages) + len(said)) // 4


def read_steps(said: str, steps: Sequence[Step]) -> tuple[dict[Step, float], list[str]]:
    """Return the legal steps of an answer with their weights, and the lines that look like steps but are not legal."""
    spellings: dict[str, list[Step]] = {}
    for step in steps:
        for text in _spellings(step):
            spellings.setdefault(text, []).append(step)
    weights: dict[Step, float] = {}
    rejected: list[str] = []
    for line in _THOUGHTS.sub("", said).splitlines():
        before, _, after = _ITEM.sub("", line, count=1).partition("|")
        sides = before.strip("*_ \t").lower().translate(_SAME).split("=")
        if not re.search(r"\d[-+*/]+\d", sides[0]):
            continue  # chatter
        fitting = [
            step
            for step in spellings.get(sides[0], [])
            if len(sides) == 1 or _first_number(sides[1]) in _numerals(step.result)
        ]
        if not fitting:
            rejected.append(line.strip())
            continue
        weight = re.search(r"\d+(?:\.\d+)?", after)
        weights[fitting[0]] = max(weights.get(fitting[0], 0.0), float(weight[0]) if weight else _USUAL_WEIGHT)
    return weights, rejected


def _first_number(text: str) -> str:
    found = re.match(r"-?\d+(?:[./]\d+)?", text)
    return found[0] if found else ""


def _spellings(step: Step) -> Iterator[str]:
    pairs = [(step.left, step.right)] if step.operator in "-/" else [(step.left, step.right), (step.right, step.left)]
    for left, right in pairs:
        yield from (f"{one}{step.operator}{other}" for one in _numerals(left) for other in _numerals(right))


def _numerals(number: Fraction) -> list[str]:
    """Return the spellings of a number: 5/2 and 2.5, 4 and 4.0."""
    texts = [str(number)]
    if Fraction(f"{float(number):.4f}") == number:
        texts += [f"{float(number):.1f}", f"{float(number):g}"]
    return list(dict.fromkeys(text for text in texts if Fraction(text) == number))


def read_chance(said: str) -> float | None:
    """Return the probability at the end of an answer, from 0 to 1, or None."""
    text = _THOUGHTS.sub("", said).strip()
    found = _CHANCE.findall(text) or re.findall(r"^(\d+(?:\.\d+)?)\s*%?$", text)
    return float(found[-1]) / 100.0 if found and float(found[-1]) <= 100.0 else None
