"""`treetop search`: search one position and tell what to play, and why."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from treetop.cli.common import (
    CHOSEN,
    FAINT,
    LIMITS,
    SEARCH,
    Exploration,
    Json,
    MaybeGameName,
    MaybeSeed,
    Moves,
    RuleName,
    Seconds,
    Simulations,
    errors,
    facts,
    find_game,
    game_argument,
    make_config,
    refuse_missing_folder,
    refuse_together,
    run_shown,
    say,
    say_json,
    screen,
    table,
)
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.game.position import Position
from treetop.game.registry import position
from treetop.search.config import choices
from treetop.types import CHANCE

if TYPE_CHECKING:
    from treetop.search.result import SearchResult
    from treetop.search.search import Search

_ROWS_SHOWN = 12

Setup = Annotated[
    str | None, typer.Option("--setup", metavar="DIAGRAM", help="Begin from a diagram as the game prints it.")
]
Nodes = Annotated[
    int | None, typer.Option("--nodes", metavar="N", help="At most so many new nodes.", rich_help_panel=LIMITS)
]
FinalRule = Annotated[
    str | None,
    typer.Option(
        "--final",
        metavar="RULE",
        help=f"What decides the move: {', '.join(choices('final'))}. Default: visits.",
        rich_help_panel=SEARCH,
    ),
]
Temperature = Annotated[float | None, typer.Option(
    "--temperature", metavar="T", help="Draw the move by visits ** (1 / T).", rich_help_panel=SEARCH)]  # fmt: skip
Evaluator = Annotated[
    str | None,
    typer.Option(
        "--evaluator",
        metavar="NAME",
        help="What evaluates a leaf: rollout (if not given), uniform, heuristic, \"rollout(policy='mast')\" ...",
        rich_help_panel=SEARCH,
    ),
]
Solver = Annotated[bool | None, typer.Option(
    "--solver/--no-solver", help="Prove what can be proven, and stop when the position is.", rich_help_panel=SEARCH)]  # fmt: skip
Transpositions = Annotated[
    bool | None,
    typer.Option(
        "--transpositions/--no-transpositions",
        help="One node for a position that is reached by several ways.",
        rich_help_panel=SEARCH,
    ),
]
Lines = Annotated[
    int, typer.Option("--lines", metavar="N", min=0, help="Show the principal variations of the N best moves.")
]
ExpandAfter = Annotated[int | None, typer.Option(
    "--expand-after", metavar="N", help="Visits before a leaf is expanded.", rich_help_panel=SEARCH)]  # fmt: skip
MaxDepth = Annotated[
    int | None,
    typer.Option("--max-depth", metavar="N", help="Expand no node deeper than this.", rich_help_panel=SEARCH),
]
MaxNodes = Annotated[int | None, typer.Option(
    "--max-nodes", metavar="N", help="Bound the tree: the least visited parts are folded.", rich_help_panel=SEARCH)]  # fmt: skip
Player = Annotated[
    int | None, typer.Option("--player", metavar="N", help="For whom, where all choose at once; 0 if not given.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Show every move and the terms of the formula.")]
Report = Annotated[bool, typer.Option("--report", help="Show all that is needed to run this again.")]
Save = Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Write the search to a file when it ends.")]
Load = Annotated[
    Path | None,
    typer.Option(
        "--load", metavar="FILE", help="Continue a search that was saved; name GAME too where it is your own."
    ),
]


def search(
    game: MaybeGameName = None,
    moves: Moves = None,
    setup: Setup = None,
    simulations: Simulations = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    rule: RuleName = None,
    c: Exploration = None,
    final: FinalRule = None,
    temperature: Temperature = None,
    evaluator: Evaluator = None,
    solver: Solver = None,
    transpositions: Transpositions = None,
    expand_after: ExpandAfter = None,
    max_depth: MaxDepth = None,
    max_nodes: MaxNodes = None,
    seed: MaybeSeed = None,
    player: Player = None,
    as_json: Json = False,
    explain: Explain = False,
    report: Report = False,
    lines: Lines = 0,
    save: Save = None,
    load: Load = None,
) -> None:
    """Search a position: what to play, and why.

    Without a limit it runs 10,000 simulations; the first limit reached ends it. Ctrl-C ends it too, and shows what is known by then. Where chance
    decides, say with --moves what it did, or let --seed draw it.
    """
    from treetop.search.limits import Limit

    if simulations is None and seconds is None and nodes is None:
        simulations = 10_000
    limit = Limit(simulations, seconds, nodes)
    refuse_missing_folder(save)
    if load is not None:
        refuse_together(
            "--load",
            {
                "--moves": moves,
                "--setup": setup,
                "--rule": rule,
                "--c": c,
                "--final": final,
                "--temperature": temperature,
                "--seed": seed,
                "--player": player,
                "--evaluator": evaluator,
                "--solver": solver,
                "--transpositions": transpositions,
                "--expand-after": expand_after,
                "--max-depth": max_depth,
                "--max-nodes": max_nodes,
            },
        )
        found = _loaded(load, game)
    else:
        options: dict[str, Any] = {
            "solver": solver,
            "transpositions": transpositions,
            "expand_after": expand_after,
            "max_depth": max_depth,
            "max_nodes": max_nodes,
            "temperature": temperature,
        }
        found = _fresh(game, moves, setup, rule, c, _final(final, temperature), evaluator, seed, player, options)
    if lines and found.tree.holds_views:
        raise ConfigError(
            "--lines: what follows a move depends on what nobody knows yet, so this search has no variations to show"
        )
    result = run_shown(found, limit)
    try:
        _show(result, as_json=as_json, explain=explain, report=report, lines=lines)
    finally:  # neither a closed pipe nor a full disk costs more than its own part
        if save is not None:
            found.save(save)
            errors().print(
                f"saved; go on with:  treetop search {game_argument(found.game)}--load {shlex.quote(str(save))}",
                style=FAINT,
                soft_wrap=True,
            )


def _final(final: str | None, temperature: float | None) -> str | None:
    """A temperature asks for the rule that uses it; another rule beside it is a contradiction."""
    if temperature is None:
        return final
    if final not in (None, "temperature"):
        raise ConfigError(f"--temperature is for --final temperature, not for --final {final}")
    return "temperature"


def _loaded(path: Path, game: str | None) -> Search:
    from treetop.search.search import Search

    return Search.load(path, game=None if game is None else find_game(game))


def _fresh(
    game: str | None, moves: str | None, setup: str | None, rule: str | None, c: float | None, final: str | None,
    evaluator: str | None, seed: int | None, player: int | None, options: dict[str, Any],
) -> Search:  # fmt: skip
    from treetop.search.evaluator import make_evaluator
    from treetop.search.search import Search

    if game is None:
        raise ConfigError("which game? Give its name, or --load a search")
    start = _settled(position(find_game(game), moves or "", setup=setup, seed=None if setup else seed), seed)
    config = make_config(rule, c, final=final, **options)
    return Search(start, config, evaluator=make_evaluator(evaluator or "rollout"), seed=seed or 0, player=player)


def _settled(start: Position, seed: int | None) -> Position:
    """The position where somebody has to choose. Chance is not made up for anybody who did not ask for it."""
    if start.is_terminal or start.player != CHANCE:
        return start
    if seed is None:
        can = [start.move_text(outcome) for outcome, _ in start.outcomes()]
        listed = ", ".join(can[:_ROWS_SHOWN]) + (", ..." if len(can) > _ROWS_SHOWN else "")
        raise ConfigError(
            f"chance decides here, so there is nothing to choose: say with --moves what it did ({listed}), or let --seed N draw it\n{start}"
        )
    settled = start.resolve_chance(Rng(seed))
    drawn = settled.moves()[len(start.actions) :]
    errors().print(f"chance, by seed {seed}: {' '.join(drawn)}", style=FAINT, soft_wrap=True)
    return settled


def _show(result: SearchResult, *, as_json: bool, explain: bool, report: bool, lines: int) -> None:
    if as_json:
        say_json({**result.to_dict(), **({"lines": [asdict(line) for line in result.lines(lines)]} if lines else {})})
    elif screen().is_terminal:
        _draw(result, explain=explain, report=report, lines=lines)
    else:
        parts = [
            str(result),
            *(["\n".join(map(str, result.lines(lines)))] if lines else []),
            *([str(result.explain())] if explain else []),
            *([str(result.report())] if report else []),
        ]
        say("\n\n".join(parts))


def _draw(result: SearchResult, *, explain: bool, report: bool, lines: int) -> None:
    told, console = result.explain(), screen()
    head, cells = told.table(None if explain else _ROWS_SHOWN)
    moves = table(*head)
    for row in cells:
        moves.add_row(*row, style=CHOSEN if row[0] == told.chosen else None)
    console.print(f"{result.position}\n", soft_wrap=True)
    console.print(moves)
    if len(told.rows) > len(cells):
        console.print(f"... and {len(told.rows) - len(cells)} more: --explain shows them all", style=FAINT)
    console.print()
    rows: dict[str, str | Text] = {
        "plays": Text.assemble((str(told.chosen), CHOSEN), f", because {told.why}"),
        "value": f"{result.value:+.4f} for player {result.player}, who is to move",
        **({"proven": Text(str(result.proof), CHOSEN)} if result.proof is not None else {}),
        "variation": " ".join(result.pv) or "none yet",
        **{f"line {index}": str(line) for index, line in enumerate(result.lines(lines), 1)},
        **({"scale": told.scale_note} if told.scale is not None else {}),
        "searched": _effort(result),
    }
    if explain:
        rows["formula"] = told.rule
        rows["next"] = f"{told.selected} would be searched next: it has the highest score"
    console.print(facts(rows))
    if report:
        console.print()
        console.print(facts({key: str(value) for key, value in result.report().to_dict().items()}))


def _effort(result: SearchResult) -> str:
    rate = result.simulations / result.elapsed if result.elapsed else 0.0
    speed = f" in {result.elapsed:.3g} s, {rate:,.0f} a second" if rate else ""
    ended = (
        "; ended by Ctrl-C" if result.interrupted else f"; stopped: {result.usage.stopped}" if result.usage.told else ""
    )
    return f"{result.simulations:,} simulations{speed}; {result.usage.nodes:,} nodes, {result.config}, seed {result.seed}{ended}"
