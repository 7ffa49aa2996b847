"""Measure the strength of every option in matches against the same search without it, at equal simulations and time.

Equal time is set in simulations, so that neither a busy machine nor a coarse clock affects a game: first the cost of
the option is measured (the median of the CPU time of a move with and without it, in several positions), then the player
with the option gets proportionally fewer simulations.

    python scripts/measure_options.py                          all matches, and docs/measured.md
    python scripts/measure_options.py --games 400              more games; games in the files count
    python scripts/measure_options.py --only solver reuse      some options
    python scripts/measure_options.py --write-only             the table of the games played so far

Each match is a file in `measured/`, which is continued when the script is run again.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from treetop.arena.log import read_match
from treetop.arena.matches import match
from treetop.arena.result import MatchResult, Tally
from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.players.spec import make_player

HERE = Path(__file__).resolve().parents[1]
SIMULATIONS = 1000
COST_PAIRS, COST_POSITIONS = 7, (0, 6, 12)


@dataclass(frozen=True)
class Option:
    """An option, as two players that differ only in it; `{}` is replaced by the limit."""

    name: str
    player: str
    baseline: str
    games: tuple[str, ...]
    simulations: int = SIMULATIONS


HEX, GOMOKU = "hex(size=7)", "gomoku(size=9)"
OPTIONS = (
    Option("solver", "uct({}, solver=True)", "uct({})", ("connect_four", "breakthrough(size=6)"), 10_000),
    Option("tree reuse", "uct({})", "uct({}, reuse=False)", ("connect_four", "othello")),
    Option("transpositions", "uct({}, transpositions=True)", "uct({})", ("connect_four", "othello")),
    Option("RAVE", "rave({})", "uct({})", (HEX, GOMOKU, "othello", "breakthrough")),
    Option("GRAVE", "grave({})", "uct({})", (HEX, GOMOKU, "othello", "breakthrough")),
    Option("UCB1-Tuned", "ucb1_tuned({})", "uct({})", ("connect_four", "othello")),
    Option("UCB-V", "ucb_v({}, c=0.1)", "uct({})", ("connect_four", "othello")),
    Option("Thompson sampling", "thompson({})", "uct({})", ("connect_four", "othello")),
    Option("progressive history", "progressive_history({})", "uct({})", ("othello", "breakthrough")),
    Option("anytime halving at the root", "halving({})", "uct({})", ("connect_four", "othello")),
    Option("uniform selection (against UCB1)", "uniform({})", "uct({})", ("connect_four", "othello")),
    Option("KataGo's schedule", "puct({}, c_schedule='katago')", "puct({}, c=1.25)", ("connect_four", "othello")),
    Option(
        "exploration scaled by variance",
        "puct({}, c=1.25, variance_scale=0.85)",
        "puct({}, c=1.25)",
        ("connect_four", "othello"),
    ),
    Option(
        "FPU from the parent",
        "puct({}, c=1.25, fpu='parent')",
        "puct({}, c=1.25)",
        ("connect_four", "othello"),
    ),
    Option(
        "FPU scaled by visited priors",
        "puct({}, c=1.25, fpu='scaled')",
        "puct({}, c=1.25)",
        ("connect_four", "othello"),
    ),
    Option(
        "mixed backup",
        "uct({}, backup='mixed', minimax_share=0.2)",
        "uct({})",
        ("connect_four", "othello"),
    ),
    Option("implicit minimax", "uct({}, backup='implicit', minimax_share=0.2)", "uct({})", ("othello", "breakthrough")),
    Option("normalised values", "uct({}, normalise=True, c=0.7)", "uct({})", ("connect_four", "othello")),
    Option("MAST rollouts", "uct({}, evaluator=\"rollout(policy='mast')\")", "uct({})", ("othello", "breakthrough")),
    Option(
        "softmax rollouts",
        "uct({}, evaluator=\"rollout(policy='mast_softmax')\")",
        "uct({})",
        ("othello", "breakthrough"),
    ),
    Option(
        "the game's rollout policy",
        "uct({}, evaluator=\"rollout(policy='game')\")",
        "uct({})",
        ("connect_four", "breakthrough"),
    ),
    Option("two rollouts a leaf", "uct({}, evaluator='rollout(count=2)')", "uct({})", ("connect_four", "othello")),
    Option(
        "rollouts of 8 moves, then the heuristic",
        "uct({}, evaluator='rollout(depth=8)')",
        "uct({})",
        ("othello", "breakthrough"),
    ),
    Option(
        "half rollout, half heuristic",
        "uct({}, evaluator='mixed(heuristic, weight=0.5)')",
        "uct({})",
        ("othello", "breakthrough"),
    ),
    Option(
        "priors from the heuristic",
        "puct({}, c=1.25, evaluator='heuristic(prior_temperature=0.2)')",
        "puct({}, c=1.25, evaluator='heuristic')",
        ("othello", "breakthrough"),
    ),
    Option(
        "progressive widening by these priors",
        "puct({}, c=1.25, evaluator='heuristic(prior_temperature=0.2)', widening=2.0)",
        "puct({}, c=1.25, evaluator='heuristic(prior_temperature=0.2)')",
        ("othello", "breakthrough"),
    ),
    Option(
        "Gumbel against PUCT, 32 simulations",
        "gumbel({}, evaluator='heuristic')",
        "puct({}, evaluator='heuristic')",
        ("othello", "breakthrough", "connect_four"),
        32,
    ),
    Option(
        "Gumbel against PUCT, 32 simulations, with priors",
        "gumbel({}, evaluator='heuristic(prior_temperature=0.2)')",
        "puct({}, evaluator='heuristic(prior_temperature=0.2)')",
        ("othello", "breakthrough", "connect_four"),
        32,
    ),
    Option("final move by LCB", "uct({}, final='lcb')", "uct({})", ("connect_four", "othello")),
    Option("final move by value", "uct({}, final='value')", "uct({})", ("connect_four", "othello")),
    Option("secure final move", "uct({}, final='secure', secure_beta=0.1)", "uct({})", ("connect_four", "othello")),
)


def main() -> None:
    """Read the arguments, play the missing games, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100, help="games a match")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="+", help="options whose names contain one of these texts")
    parser.add_argument("--limits", nargs="+", choices=("simulations", "time"), default=["simulations", "time"])
    parser.add_argument("--folder", type=Path, default=HERE / "measured")
    parser.add_argument("--write-only", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    chosen = [option for option in OPTIONS if not arguments.only or any(part in option.name for part in arguments.only)]
    jobs = [(option, game, limit) for limit in arguments.limits for option in chosen for game in option.games]
    console = Console(stderr=True)
    if not arguments.write_only:
        with Progress(console=console) as shown:
            task = shown.add_task("matches", total=len(jobs))
            for option, game, limit in jobs:
                shown.update(task, description=f"{option.name}, {game}, equal {limit}")
                play(option, game, limit, arguments.games, arguments.workers, arguments.folder)
                shown.advance(task)
    page = HERE / "docs" / "measured.md"
    page.write_text(table(arguments.folder, page.read_text()))


def play(option: Option, game: str, limit: str, games: int, workers: int, folder: Path) -> MatchResult:
    """Play one match, or the rest of it."""
    simulations = option.simulations
    if limit == "time":
        simulations = max(1, round(simulations / cost_of(option, game, folder)))
    player, baseline = (
        option.player.format(f"simulations={simulations}"),
        option.baseline.format(f"simulations={option.simulations}"),
    )
    return match(
        player,
        baseline,
        game,
        games=games,
        seed=1,
        workers=workers,
        out=folder / f"{file_name(option, game, limit)}.jsonl",
    )


def cost_of(option: Option, game: str, folder: Path) -> float:
    """Return the ratio of the times of a move with and without the option.

    It is measured once and saved, so that a continued match has the same players.
    """
    file = folder / "costs.json"
    known: dict[str, float] = json.loads(file.read_text()) if file.exists() else {}
    name = file_name(option, game, "cost")
    if name not in known:
        known[name] = measured_cost(option, game)
        file.write_text(json.dumps(known, indent=1))
    return known[name]


def measured_cost(option: Option, game: str) -> float:
    """Return the median of the ratios of CPU time with and without the option."""
    limit = f"simulations={max(option.simulations, SIMULATIONS)}"
    rules = load_game(game)
    players = [make_player(text.format(limit), rules) for text in (option.player, option.baseline)]
    ratios = []
    for pair in range(COST_PAIRS + 1):
        for moves in COST_POSITIONS:
            position = Position(rules)
            rng = Rng(100 * pair + moves)
            for _ in range(moves):
                following = position.apply(position.legal_actions()[rng.below(len(position.legal_actions()))])
                position = position if following.is_terminal else following
            taken = []
            for player in players:
                player.begin(position, pair)
                start = time.process_time()
                player.choose(position)
                taken.append(time.process_time() - start)
            if pair:  # the first one compiles
                ratios.append(taken[0] / taken[1])
    return round(statistics.median(ratios), 3)


def file_name(option: Option, game: str, limit: str) -> str:
    """Return the name of the file of a match."""
    words = f"{option.name} {game} {limit}"
    return "".join(letter if letter.isalnum() else "-" for letter in words).strip("-")


def table(folder: Path, before: str) -> str:
    """Return the page with all results; a row of the earlier page is kept if its matches are not in the folder."""
    rows, kept = (
        [],
        {
            tuple(cell.strip() for cell in line.split("|")[1:3]): line
            for line in before.splitlines()
            if line.startswith("| ")
        },
    )
    earlier = re.search(r"(\d+) (?:to (\d+) )?games a match", before)
    costs = json.loads((folder / "costs.json").read_text()) if (folder / "costs.json").exists() else {}
    least, most = 10**9, 0
    for option in OPTIONS:
        for game in option.games:
            cells = []
            for limit in ("simulations", "time"):
                file = folder / f"{file_name(option, game, limit)}.jsonl"
                result = played(file) if file.exists() else None
                if result is None or not result.games:
                    cells.append("not played")
                    continue
                elo = result.rating.elo
                least, most = min(least, result.games), max(most, result.games)
                cells.append(f"**{elo.value:+.0f}** ({elo.low:+.0f} to {elo.high:+.0f})")
            if cells == ["not played"] * 2:
                rows += [kept[option.name, game]] if (option.name, game) in kept else []
                continue
            cost = costs.get(file_name(option, game, "cost"))
            share = "" if cost is None else f"{cost - 1:+.0%}"
            rows.append(f"| {option.name} | {game} | {option.simulations:,} | {cells[0]} | {share} | {cells[1]} |")
    if earlier is not None:
        least, most = min(least, int(earlier[1])), max(most, int(earlier[2] or earlier[1]))
    budget = f"{least} games a match" if least == most else f"{least} to {most} games a match"
    return PAGE.format(rows="\n".join(rows), budget=budget)


def played(file: Path) -> MatchResult:
    """Return the result of a match so far."""
    header, records = read_match(file)
    tally = Tally(("with", "without"), str(header.get("game")), 1, len(records))
    for record in records:
        tally.add(record)
    return tally.result()


PAGE = """# Measured strength of the options

The Elo difference between a search with an option and the same search without it, with a 95% interval from pairs of
games ([matches](matches.md) explains it), {budget}. The column "simulations" is the number of simulations a move at
equal simulations. The cost is the additional CPU time of a move with the option (medians of interleaved pairs); at
equal time the player with the option gets proportionally fewer simulations. An interval that contains 0 means that no
difference was found, not that there is none; and an option that helps in one game may harm in another. Measured by

```
python scripts/measure_options.py --games 200
```

which continues earlier matches, so the number of games can be raised: `--games 1000`. The players' settings are in that
file.

| option | game | simulations | Elo at equal simulations | cost | Elo at equal time |
|---|---|---|---|---|---|
{rows}
"""


if __name__ == "__main__":
    main()
