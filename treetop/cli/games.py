"""`treetop games`: list the bundled games."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from treetop.cli.common import FAINT, Json, facts, find_game, find_games, say, say_json, screen, table
from treetop.game.definition import Game
from treetop.game.position import Position


def games(
    name: Annotated[str | None, typer.Argument(metavar="GAME", help="Describe one game.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """List the bundled games, or describe one."""
    if name is not None:
        _one(find_game(name), as_json=as_json)
        return
    found = find_games(None)
    if as_json:
        say_json([_brief(game) for game in found])
    elif screen().is_terminal:
        _draw(found)
    else:
        for game in found:
            say(str(game))


def _brief(game: Game) -> dict[str, Any]:
    declared = game.facts
    return {
        "name": game.name,
        "family": game.family,
        "parameters": game.parameters,
        "summary": game.summary,
        "players": declared.players,
        "num_actions": declared.num_actions,
        "max_length": declared.max_length,
        "rewards": list(declared.rewards),
        "zero_sum": declared.zero_sum,
        "observation_shape": None if declared.observation_shape is None else list(declared.observation_shape),
        "symmetries": declared.symmetries,
    }


def _draw(found: list[Game]) -> None:
    shown = table("game", "players", "actions", "longest", "", left=("",))
    for game in found:
        parts = game.facts
        shown.add_row(
            Text(game.name, "bold"), f"{parts.players}", f"{parts.num_actions:,}", f"{parts.max_length:,}", game.summary
        )
    console = screen()
    console.print(shown)
    console.print(
        "\ntreetop games NAME describes a game; parameters go in brackets: treetop play 'hex(size=7)'", style=FAINT
    )


def _one(game: Game, *, as_json: bool) -> None:
    start = Position(game)
    if as_json:
        from treetop.players.bundled import recommendation

        entry = recommendation(game)
        more = {
            "recommended": None if entry is None else entry._asdict(),
            "state_bytes": game.dtype.itemsize,
            "rules": game.digest,
            "start": str(start),
            "moves": _first_moves(start),
        }
        say_json({**_brief(game), **more})
        return
    rows = _facts(game, start)
    console = screen()
    if console.is_terminal:
        console.print(Text.assemble((game.name, "bold"), f"  {game.summary}\n"))
        console.print(facts(dict(rows)))
        console.print(f"\n{start}")
        return
    say(f"{game.name}: {game.summary}\n")
    for name, value in rows.items():
        say(f"{name:14}{value}")
    say(f"\n{start}")


def _facts(game: Game, start: Position) -> dict[str, str]:
    from treetop.players.bundled import recommendation

    declared, entry = game.facts, recommendation(game)
    low, high = declared.rewards
    first = _first_moves(start)
    return {
        "players": f"{declared.players}",
        "actions": f"{declared.num_actions:,}",
        "longest game": f"{declared.max_length:,} moves",
        "rewards": f"from {low:g} to {high:g}" + (", zero sum" if declared.zero_sum else ""),
        "parameters": ", ".join(f"{key}={value!r}" for key, value in game.parameters.items()) or "none",
        "first moves": " ".join(first[:12]) + (f" and {len(first) - 12} more" if len(first) > 12 else "")
        or "continuous",
        "a state": f"{game.dtype.itemsize:,} bytes",
        "observation": _observation(game),
        "symmetries": "none" if declared.symmetries is None else f"{declared.symmetries}, with the identity",
        "rules digest": game.digest,
        **({} if entry is None else {"recommended": entry.player, "strength": entry.strength}),
        **({} if entry is None or entry.command is None else {"measured by": entry.command}),
    }


def _observation(game: Game) -> str:
    """Return the shape of the game's observations, as text."""
    from treetop.search.states import observation_shape

    if game.has("observe"):
        return f"{observation_shape(game)}"
    if game.has("determinize"):
        return "none: the class has no method observe"
    return f"{observation_shape(game)}, the default encoding of its fields"


def _first_moves(start: Position) -> list[str]:
    """Return the moves at the start; an empty list if actions are continuous."""
    return [] if start.is_continuous else start.legal_moves()
