"""`treetop search`: search one position, and show the best move and the reasons."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from treetop import checks
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
    On,
    RuleName,
    Seconds,
    Simulations,
    Threads,
    counting,
    errors,
    facts,
    find_game,
    game_argument,
    naming_recommended,
    refuse_missing_folder,
    refuse_options_beside,
    run_with_progress,
    say,
    say_json,
    screen,
    table,
)
from treetop.cli.pictures import FILES, Dot, Html, Pictures, Svg
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.game.position import Position
from treetop.game.registry import position
from treetop.search.config import choices
from treetop.types import CHANCE
from treetop.workers.places import on_cluster

if TYPE_CHECKING:
    from treetop.search.limits import Limit
    from treetop.search.progress import Progress
    from treetop.search.result import SearchResult
    from treetop.search.search import Search

_ROWS_SHOWN = 12

Setup = Annotated[
    str | None, typer.Option("--setup", metavar="DIAGRAM", help="Start from a diagram as the game prints it.")
]
Nodes = Annotated[int | None, typer.Option("--nodes", metavar="N", help="Add at most N nodes.", rich_help_panel=LIMITS)]
FinalRule = Annotated[
    str | None,
    typer.Option(
        "--final",
        metavar="RULE",
        help=f"The final rule, which chooses the move: {', '.join(choices('final'))}. Default: visits.",
        rich_help_panel=SEARCH,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", metavar="T", help="Draw the move by visits ** (1 / T).", rich_help_panel=SEARCH),
]
Evaluator = Annotated[
    str | None,
    typer.Option(
        "--evaluator",
        metavar="NAME",
        help="The evaluator of leaves: rollout, uniform, heuristic, \"rollout(policy='mast')\" ... "
        "Default: the recommended one, else rollout.",
        rich_help_panel=SEARCH,
    ),
]
Solver = Annotated[
    bool | None,
    typer.Option(
        "--solver/--no-solver", help="Prove values, and stop when the root is proven.", rich_help_panel=SEARCH
    ),
]
Transpositions = Annotated[
    bool | None,
    typer.Option(
        "--transpositions/--no-transpositions",
        help="One node for a position that is reached by several paths.",
        rich_help_panel=SEARCH,
    ),
]
Lines = Annotated[
    int, typer.Option("--lines", metavar="N", min=0, help="Show the principal variations of the N best moves.")
]
ExpandAfter = Annotated[
    int | None,
    typer.Option("--expand-after", metavar="N", help="Visits before a leaf is expanded.", rich_help_panel=SEARCH),
]
MaxDepth = Annotated[
    int | None,
    typer.Option("--max-depth", metavar="N", help="Expand no node deeper than this.", rich_help_panel=SEARCH),
]
MaxNodes = Annotated[
    int | None,
    typer.Option(
        "--max-nodes",
        metavar="N",
        help="The greatest size of the tree; beyond it subtrees are folded.",
        rich_help_panel=SEARCH,
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic", help="The same result for any number of threads, at less speed.", rich_help_panel=SEARCH
    ),
]
Player = Annotated[
    int | None,
    typer.Option("--player", metavar="N", help="The player to search for, if moves are simultaneous. Default: 0."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Search N times at the same time, each up to the limit with a seed of its own, and merge the roots.",
    ),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show every move and the terms of the formula.")]
Report = Annotated[bool, typer.Option("--report", help="Show everything that is needed to repeat the search.")]
Save = Annotated[
    Path | None,
    typer.Option("--save", metavar="FILE", help="Write the search to a file when it ends.", rich_help_panel=FILES),
]
Load = Annotated[
    Path | None,
    typer.Option(
        "--load",
        metavar="FILE",
        help="Continue a saved search; name GAME too if it is not bundled.",
        rich_help_panel=FILES,
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
    workers: Workers = None,
    on: On = None,
    as_json: Json = False,
    explain: Explain = False,
    report: Report = False,
    lines: Lines = 0,
    save: Save = None,
    load: Load = None,
    html: Html = None,
    svg: Svg = None,
    dot: Dot = None,
    threads: Threads = 1,
    deterministic: Deterministic = False,
) -> None:
    """Search a position, and show the best move and the reasons.

    Without a limit it runs 10,000 simulations; the first limit that is reached ends it. Ctrl-C ends it too and shows
    the result so far. Without --rule the settings are those recommended for the game; other options replace single
    ones. At a chance node, give the outcome by --moves, or draw it by --seed. With --workers, Ctrl-C shows the searches
    that are finished.
    """
    from treetop.search.limits import Limit

    if simulations is None and seconds is None and nodes is None:
        simulations = 10_000
    limit = Limit(simulations, seconds, nodes)
    refuse_missing_folder(save)
    together = on_cluster(on) or (checks.whole("--workers", workers, 1, optional=True) or 1) > 1
    if together and (save is not None or load is not None):
        raise ConfigError("--workers and --on: the trees stay with the workers; remove --save and --load")
    pictures = Pictures(html, svg, dot)
    pictures.refuse(trees_elsewhere=together)
    if load is not None:
        refuse_options_beside(
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
        found, recommended = _loaded(load, game, threads, deterministic), None
    else:
        options: dict[str, Any] = {
            "solver": solver,
            "transpositions": transpositions,
            "expand_after": expand_after,
            "max_depth": max_depth,
            "max_nodes": max_nodes,
            "temperature": temperature,
        }
        found, recommended = _fresh(
            game, moves, setup, rule, c, _final(final, temperature), evaluator, seed, player, options,
            threads=threads, deterministic=deterministic,
        )  # fmt: skip
    if lines and found.tree.has_information_sets:
        raise ConfigError("--lines: a search over information sets has no principal variations; remove it")
    result = _run_together(found, limit, workers, on) if together else run_with_progress(found, limit)
    try:
        _show(result, recommended, as_json=as_json, explain=explain, report=report, lines=lines)
    finally:  # write the files even if printing fails
        if save is not None:
            found.save(save)
            errors().print(
                f"saved; continue with:  treetop search {game_argument(found.game)}--load {shlex.quote(str(save))}",
                style=FAINT,
                soft_wrap=True,
            )
        pictures.write(result)


def _run_together(found: Search, limit: Limit, workers: int | None, on: str | None) -> SearchResult:
    """Run a search in several workers; on a terminal, show how many are finished."""
    from treetop.search.parallel import run_parallel

    finished = 0
    with counting("searching", workers) as count:

        def show(now: Progress) -> None:
            nonlocal finished
            finished += 1
            count(finished, f"best {now.best} ({now.value:+.3f} for player {found.player})")

        try:
            found.prepare(advance=False)  # here, where compiling is shown; workers of this machine find it in the cache
            return run_parallel(found, limit, workers=workers, on=on, progress=show)
        except KeyboardInterrupt:
            from treetop.cli.match import INTERRUPTED

            errors().print("interrupted; no search was finished", style=FAINT, soft_wrap=True)
            raise typer.Exit(INTERRUPTED) from None


def _final(final: str | None, temperature: float | None) -> str | None:
    """Return the final rule; a temperature implies the rule that uses it."""
    if temperature is None:
        return final
    if final not in (None, "temperature"):
        raise ConfigError(f"--temperature works with --final temperature, not with --final {final}")
    return "temperature"


def _loaded(path: Path, game: str | None, threads: int, deterministic: bool) -> Search:
    from treetop.search.search import Search

    known = None if game is None else find_game(game)
    return Search.load(path, game=known, threads=threads, deterministic=deterministic)


def _fresh(
    game: str | None, moves: str | None, setup: str | None, rule: str | None, c: float | None, final: str | None,
    evaluator: str | None, seed: int | None, player: int | None, options: dict[str, Any], **together: Any,
) -> tuple[Search, str | None]:  # fmt: skip
    """Return a new search, and its rule if it is the one recommended for the game."""
    from treetop.players.rules import parse_rule, recommended_rule
    from treetop.search.evaluator import make_evaluator
    from treetop.search.search import Search

    if game is None:
        raise ConfigError("no game: give the name of a game, or --load FILE")
    start = _resolve_chance(position(find_game(game), moves or "", setup=setup, seed=None if setup else seed), seed)
    recommended = recommended_rule(start.game, rule, c=c, final=final, evaluator=evaluator, **options)
    with naming_recommended(recommended):
        config, named = parse_rule(rule or recommended, c, final=final, **options)
        if named is not None and evaluator is not None:
            raise ConfigError("the evaluator is given twice: in --rule and by --evaluator; remove one of them")
        chosen = make_evaluator(evaluator or named or "rollout")
        return Search(start, config, evaluator=chosen, seed=seed or 0, player=player, **together), recommended


def _resolve_chance(start: Position, seed: int | None) -> Position:
    """Return the position after chance was resolved by the seed. Without a seed a chance node is an error."""
    if start.is_terminal or start.player != CHANCE:
        return start
    if seed is None:
        can = [start.move_text(outcome) for outcome, _ in start.outcomes()]
        listed = ", ".join(can[:_ROWS_SHOWN]) + (", ..." if len(can) > _ROWS_SHOWN else "")
        raise ConfigError(
            f"the position is a chance node, so there is no move to choose: add the outcome to --moves ({listed}), "
            f"or draw it by --seed N\n{start}"
        )
    resolved = start.resolve_chance(Rng(seed))
    drawn = resolved.moves()[len(start.actions) :]
    errors().print(f"chance, by seed {seed}: {' '.join(drawn)}", style=FAINT, soft_wrap=True)
    return resolved


def _show(
    result: SearchResult, recommended: str | None, *, as_json: bool, explain: bool, report: bool, lines: int
) -> None:
    note = (
        None if recommended in (None, "uct") else f"settings recommended for {result.position.game.name}: {recommended}"
    )
    if as_json:
        say_json(
            {
                **result.to_dict(),
                "recommended": recommended,
                **({"lines": [asdict(line) for line in result.lines(lines)]} if lines else {}),
            }
        )
    elif screen().is_terminal:
        _draw(result, note, explain=explain, report=report, lines=lines)
    else:
        parts = [
            "\n".join([str(result), *([] if note is None else [note])]),
            *(["\n".join(map(str, result.lines(lines)))] if lines else []),
            *([str(result.explain())] if explain else []),
            *([str(result.report())] if report else []),
        ]
        say("\n\n".join(parts))


def _draw(result: SearchResult, note: str | None, *, explain: bool, report: bool, lines: int) -> None:
    explanation, console = result.explain(), screen()
    head, cells = explanation.table(None if explain else _ROWS_SHOWN)
    moves = table(*head)
    for row in cells:
        moves.add_row(*row, style=CHOSEN if row[0] == explanation.chosen else None)
    console.print(f"{result.position}\n", soft_wrap=True)
    console.print(moves)
    if len(explanation.rows) > len(cells):
        console.print(f"... and {len(explanation.rows) - len(cells)} more: --explain shows them all", style=FAINT)
    console.print()
    rows: dict[str, str | Text] = {
        "plays": Text.assemble((str(explanation.chosen), CHOSEN), f", because {explanation.why}"),
        "value": f"{result.value:+.4f} for player {result.player}, who is to move",
        **({"proven": Text(str(result.proof), CHOSEN)} if result.proof is not None else {}),
        "variation": " ".join(result.pv) or "none yet",
        **({"best solution": str(result.best)} if result.best is not None else {}),
        **{f"line {index}": str(line) for index, line in enumerate(result.lines(lines), 1)},
        **({"scale": explanation.scale_note} if explanation.scale is not None else {}),
        "searched": _effort(result),
        **({} if result.merged is None else {"merged": str(result.merged).removeprefix("merged ")}),
        **({} if note is None else {"settings": note}),
    }
    if explain:
        rows["formula"] = explanation.rule
        rows["next"] = f"{explanation.selected} would be searched next: it has the highest score"
    console.print(facts(rows))
    if report:
        console.print()
        console.print(facts({key: str(value) for key, value in result.report().to_dict().items()}))


def _effort(result: SearchResult) -> str:
    rate = result.simulations / result.elapsed if result.elapsed else 0.0
    speed = f" in {result.elapsed:.3g} s, {rate:,.0f} a second" if rate else ""
    ended = f"; stopped: {result.usage.stopped}" if result.usage.stopped_early else ""
    ended = "; ended by Ctrl-C" if result.interrupted else ended
    size = f"{result.usage.nodes:,} nodes"
    return f"{result.simulations:,} simulations{speed}; {size}, {result.config}, seed {result.seed}{ended}"
