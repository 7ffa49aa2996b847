"""What clients send, with its limits: the models from which the OpenAPI schema is made."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from treetop.search.explain import finite

_SEED = 2**31 - 1

Spec = Annotated[str, Field(min_length=1, max_length=200, description="A bundled game, with parameters: hex(size=7).")]
MoveText = Annotated[str, Field(min_length=1, max_length=100)]
Rule = Annotated[str, Field(min_length=1, max_length=500, description="As in treetop search: puct(c=1.5).")]
Visits = Annotated[int, Field(ge=1, le=1_000_000_000)]
Seconds = Annotated[float, Field(gt=0, le=3600)]
Seed = Annotated[int, Field(ge=0, le=_SEED)]


class Request(BaseModel):
    """The base of all requests: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class NewSession(Request):
    """Begin a game."""

    game: Spec | None = None
    moves: list[MoveText] = Field(default_factory=list, max_length=10_000)
    setup: Annotated[str, Field(max_length=10_000)] | None = Field(None, description="A diagram of the position.")
    record: Annotated[str, Field(max_length=1_000_000)] | None = Field(
        None, description="A game in PGN or SGF: the first one of the text, in place of the game, set-up and moves."
    )
    people: list[Annotated[int, Field(ge=0, le=100)]] = Field(default_factory=lambda: [0], max_length=16)
    seed: Seed | None = None


class Play(Request):
    """Play a move."""

    move: MoveText
    player: Annotated[int, Field(ge=0, le=100)] | None = Field(None, description="With simultaneous moves: who moves.")


class Go(Request):
    """Show another position of the game."""

    ply: Annotated[int, Field(ge=0, le=20_000)]


class Follow(Request):
    """Show another line of moves."""

    moves: list[MoveText] = Field(max_length=10_000)
    ply: Annotated[int, Field(ge=0, le=20_000)]


class Think(Request):
    """Search the current position."""

    rule: Rule | None = None
    visits: Visits | None = None
    seconds: Seconds | None = None
    play: bool = Field(default=False, description="Whether to play the move that is found.")
    at: Annotated[int, Field(ge=0, le=10**9)] | None = Field(
        None, description="The ply that is meant: nothing is searched if another one is shown by now."
    )
    only: list[MoveText] | None = Field(None, min_length=1, max_length=1000, description="The moves to search.")
    model: bool = Field(default=True, description="Whether to use the network of the server, if it has one.")
    seed: Seed = 0


class RecordSearch(Request):
    """Record a search of the current position, step by step."""

    rule: Rule | None = None
    visits: Annotated[int, Field(ge=1, le=100_000)] = 2000
    detailed: Annotated[int, Field(ge=0, le=500)] = 100
    seed: Seed = 0


class WhatIf(Request):
    """Search the current position again with other settings, and several seeds."""

    rule: Rule | None = None
    c: Annotated[float, Field(ge=0, le=100)] | None = Field(None, description="The exploration factor.")
    fpu: Annotated[float, Field(ge=-1000, le=1000)] | None = Field(None, description="First-play urgency.")
    prior_temperature: Annotated[float, Field(gt=0, le=100)] | None = Field(
        None, description="Above 1 flattens the priors, below 1 sharpens them."
    )
    visits: Annotated[int, Field(ge=1, le=20_000)] = 1000
    seeds: Annotated[int, Field(ge=1, le=16)] = 5


class NewReview(Request):
    """Review the game."""

    rule: Rule | None = None
    visits: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    seed: Seed = 0


class Failure(BaseModel):
    """An error: what was wrong, and where."""

    error: str
    field: str | None = None
    position: int | None = Field(None, description="Where a formula is wrong: the index of a character.")
    shown: str = Field("", description="The place in a formula, as a line with a mark below.")


Answer = dict[str, Any]


def plain(answer: Answer) -> Answer:
    """Return an answer without NaN and infinity, which JSON does not have.

    >>> plain({"values": [1.0, float("nan")]})
    {'values': [1.0, None]}
    """
    return {key: _finite(value) for key, value in answer.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return plain(value)
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return finite(value)
