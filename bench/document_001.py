"""Print the experiment tables of document 001, its claims beside what a trained network of Connect Four gives here.

    python bench/document_001.py run                         all tables, some hours on two cores
    python bench/document_001.py run --only cache reuse      some of them
    python bench/document_001.py run --games 400 --out log   more games; continues the matches in the folder `log`
    python bench/document_001.py run --quick                 a smoke test

`run` is the folder of a network (`treetop train connect_four --out run`). Strength comes from matches, with 95%
intervals; several players are rated together by a Bradley-Terry model. The searches are plain PUCT with a constant,
without noise and without a solver. The document's figures are for other games and machines, and it gives no source for
them: a difference is no error. Needs pip install -e ".[onnx]" and pip install -e ".[arena]".
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import treetop as tt
from treetop.arena import MatchResult, rate
from treetop.arena.ratings import Ratings, bradley_terry
from treetop.evaluators.networks.model import Model
from treetop.players.base import BasePlayer
from treetop.stats import Interval, format_signed, mean_interval
from treetop.text import text_table

HERE, FOUR = Path(__file__).resolve(), "connect_four"

# What the document claims.

ELO = {  # simulations: Elo over the raw network in Go, chess and shogi, and milliseconds
    1: (0, 0, 0, 1), 10: (100, 80, 90, 10), 50: (200, 180, 190, 50), 100: (280, 250, 270, 100),
    400: (380, 340, 360, 400), 800: (420, 380, 400, 800), 1600: (440, 400, 420, 1600),
}  # fmt: skip
TENFOLD = 200  # Elo of ten times the simulations
C_PUCT = {0.5: 0.38, 1.0: 0.52, 2.0: 0.58, 5.0: 0.47}  # the share of wins
LEAVES = {"random rollouts": 1200, "policy rollouts": 1800, "value network": 2400}  # Elo
BATCHES = {1: 100, 8: 600, 32: 1800, 128: None}  # evaluations a second
CACHE = "50% to 70%"  # calls saved
REUSE = 0.55, "50% to 60%"  # of the simulations are needed
BRANCHING = {"tic_tac_toe": 5, "connect_four": 7, "othello": 10, "chess": 35, "go(size=19)": 250}  # legal moves
OTHER_START, SMALLER, MUCH_SMALLER = -150, -80, -200  # Elo on Chess960, on 13 x 13 and on 9 x 9 after 19 x 19


# Players.


def load(game: tt.Game, folder: str) -> Model:
    """Return the network in a folder for a game, which may be a variant of the one that it was trained on."""
    known = tt.load_model(folder)
    return known if known.game.digest == game.digest else Model(game, known.architecture, known.weights)


class PolicyRollouts:
    """An evaluator with a network's priors, whose values are the results of games by the network's policy."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def evaluate(self, batch: tt.evaluators.Batch) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """Play one game from each leaf, all at the same time."""
        logits, values, rng = self.model.evaluate(batch)[0], np.zeros(len(batch)), np.random.default_rng(batch.keys)
        playing = dict(enumerate(batch))
        while playing:
            records = np.concatenate([position.record for position in playing.values()])
            found, _ = self.model.run(tt.states.observations(batch.game, records))
            drawn = np.where(tt.states.legal_mask(batch.game, records), found + rng.gumbel(size=found.shape), -np.inf)
            for leaf, action in zip(list(playing), drawn.argmax(axis=1).tolist(), strict=True):
                playing[leaf] = after = playing[leaf].apply(action)
                if after.is_terminal:
                    values[leaf] = after.returns[batch.players[leaf]]
                    del playing[leaf]
        return logits, values


class RawPolicy(BasePlayer):
    """Play the move with the highest logit, without a search."""

    def __init__(self, model: Model, name: str) -> None:
        super().__init__(name)
        self.model = model

    def choose(self, position: tt.Position) -> int:
        logits, _ = self.model.run(tt.states.observations(position.game, position.record))
        return int(np.where(tt.states.legal_mask(position.game, position.record), logits, -np.inf).argmax())


@tt.player
def raw(game: tt.Game, folder: str, name: str = "raw") -> RawPolicy:
    """Make a player by a network's policy alone."""
    return RawPolicy(load(game, folder), name)


@tt.player
def puct(
    game: tt.Game,
    folder: str,
    *,
    leaves: str = "value network",
    simulations: int | None = None,
    seconds: float | None = None,
    c: float = 1.5,
    batch_size: int = 1,
    reuse: bool = True,
    name: str = "puct",
) -> tt.players.SearchPlayer:
    """Make a search by PUCT with a network's priors; `leaves` says where the values come from."""
    model = load(game, folder)
    evaluators = {
        "value network": lambda: model,
        "policy rollouts": lambda: PolicyRollouts(model),
        "random rollouts": lambda: tt.evaluators.Mixed(model, weight=1 - 1e-9),  # the network's priors, no value of it
    }
    limit = tt.Limit(simulations=simulations, seconds=seconds)
    config = tt.puct(c, batch_size=batch_size)
    return tt.players.SearchPlayer(name, config, limit, evaluator=evaluators[leaves](), reuse=reuse)


# Measuring.


@dataclass(frozen=True)
class Table:
    """A claim, and what was measured."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def __str__(self) -> str:
        return f"{self.title}\n\n{text_table(self.head, self.rows)}\n" + (f"\n{self.note}\n" if self.note else "")


@dataclass(frozen=True)
class Bench:
    """How everything is measured."""

    run: str
    games: int
    seed: int
    workers: int | None
    out: Path | None
    quick: bool

    def few(self, usual: int, quick: int) -> int:
        """Return a number that is smaller in a smoke test."""
        return quick if self.quick else usual

    def model(self) -> Model:
        """Return the network, with counters of its own."""
        return tt.load_model(self.run)

    def spec(self, maker: str = "puct", **options: Any) -> str:
        """Return the spec of one of the players above."""
        given = "".join(f", {name}={value!r}" for name, value in options.items())
        return f"{HERE}:{maker}({self.run!r}{given})"

    def match(self, one: str, other: str, game: str = FOUR, plies: int | None = None) -> MatchResult:
        """Play a match, or continue it."""
        name = hashlib.sha256(repr((one, other, game, plies, self.seed)).encode()).hexdigest()[:16]
        out = None if self.out is None else self.out / f"{name}.jsonl"
        return tt.match(
            one, other, game, games=self.games, seed=self.seed, workers=self.workers, out=out, opening_plies=plies
        )

    def matches(self, specs: Sequence[str], nearest: int | None = None) -> Matches:
        """Play all pairings, or only those of players that are at most `nearest` places apart."""
        pairs = itertools.combinations(range(len(specs)), 2)
        return Matches(
            len(specs),
            {(i, j): self.match(specs[i], specs[j]) for i, j in pairs if nearest is None or j - i <= nearest},
        )


@dataclass(frozen=True)
class Matches:
    """The results of several players against each other."""

    players: int
    results: dict[tuple[int, int], MatchResult]

    def elo(self, anchor: int = 0) -> tuple[Interval, ...]:
        """Return the Elo of all players, relative to one of them."""
        pairings = {pair: result.pentanomial for pair, result in self.results.items()}
        fitted: Ratings = bradley_terry(self.players, pairings, anchor=anchor)
        return fitted.elo

    def score(self, player: int) -> Interval:
        """Return the score of a player against all others."""
        total = np.zeros(5, int)
        for pair, result in self.results.items():
            if player in pair:
                total += np.array(result.pentanomial)[:: 1 if pair[0] == player else -1]
        return rate(total.tolist()).score


def share(value: Interval) -> str:
    """Return a share as text."""
    return f"{value.value:.1%} ({value.low:.1%} to {value.high:.1%})"


def positions(count: int, seed: int = 1) -> list[tt.Position]:
    """Return positions of random games that are not over."""
    found, rng = list[tt.Position](), np.random.default_rng(seed)
    while len(found) < count:
        position = tt.position(FOUR)
        for _ in range(int(rng.integers(0, 16))):
            if not position.is_terminal:
                position = position.apply(position.sample_action(int(rng.integers(2**31))))
        if not position.is_terminal:
            found.append(position)
    return found


def speed(bench: Bench, simulations: int, batch_size: int) -> tuple[float, float, float]:
    """Return milliseconds a search, evaluations a second and the mean size of a batch: medians over positions."""
    model, found = bench.model(), []
    for number, position in enumerate([*positions(1), *positions(bench.few(15, 2))]):
        search = tt.Search(position, tt.puct(1.5, batch_size=batch_size), evaluator=model, seed=1, tier="direct")
        search.prepare()
        before, batches, start = model.throughput.positions, model.throughput.batches, time.perf_counter()
        search.run(tt.Limit(simulations=simulations))
        seconds, evaluated = time.perf_counter() - start, model.throughput.positions - before
        if number:  # the first one warms up
            found.append((1000 * seconds, evaluated / seconds, evaluated / max(1, model.throughput.batches - batches)))
    milliseconds, rates, sizes = (statistics.median(column) for column in zip(*found, strict=True))
    return milliseconds, rates, sizes


# The tables.


def simulations(bench: Bench) -> Iterable[Table]:
    """Compare searches of 1 to 1600 simulations; 1 is the raw network."""
    counts = [1, 10, 100] if bench.quick else list(ELO)
    sizes = {count: min(8, max(1, count // 50)) for count in counts}
    specs = [bench.spec("raw"), *(bench.spec(simulations=many, batch_size=sizes[many]) for many in counts[1:])]
    played = bench.matches(specs, nearest=2)
    rows = [
        [
            f"{many:,}", " / ".join(f"{elo:+d}" for elo in ELO[many][:3]), elo.signed() if many > 1 else "+0",
            f"{ELO[many][3]:,} ms", f"{speed(bench, many, sizes[many])[0]:,.1f} ms", str(sizes[many]),
        ]
        for many, elo in zip(counts, played.elo(), strict=True)
    ]  # fmt: skip
    yield Table(
        "Simulations and strength: Elo over the raw network",
        ["simulations", "document: Go / chess / shogi", "measured", "document", "measured", "batch"],
        rows,
        "1 is the move with the highest logit. Each search plays the next two of the list.",
    )
    steps = [(counts.index(few), counts.index(many)) for few, many in ((10, 100), (800, 1600)) if many in counts]
    if steps:
        rows = [
            [
                f"{counts[few]:,} to {counts[many]:,}",
                f"{TENFOLD:+d}" if counts[many] == 10 * counts[few] else f"{ELO[1600][0] - ELO[800][0]:+d}",
                played.elo(few)[many].signed(),
            ]
            for few, many in steps
        ]
        yield Table(
            "Ten times the simulations, and the last doubling", ["simulations", "document, Elo", "measured"], rows
        )


def exploration(bench: Bench) -> Iterable[Table]:
    """Compare constants of PUCT."""
    many = bench.few(100, 10)
    played = bench.matches([bench.spec(simulations=many, c=c) for c in C_PUCT])
    elo = played.elo(anchor=list(C_PUCT).index(1.0))
    rows = [
        [f"{c:g}", f"{wins:.0%}", share(played.score(number)), "+0" if c == 1 else elo[number].signed()]
        for number, (c, wins) in enumerate(C_PUCT.items())
    ]
    yield Table(
        f"The constant of PUCT, {many} simulations a move",
        ["c_puct", "document, wins", "measured, score against the others", "Elo over c_puct 1"],
        rows,
        "The document names no opponent; here each constant plays the other three.",
    )


def values(bench: Bench) -> Iterable[Table]:
    """Compare the values of leaves: rollouts, rollouts by the policy, the value network."""
    many, seconds = bench.few(100, 8), 0.01 if bench.quick else 0.05
    for title, limit in (
        (f"{many} simulations", {"simulations": many}),
        (f"{1000 * seconds:g} ms", {"seconds": seconds}),
    ):
        specs = [
            *(bench.spec(leaves=kind, batch_size=8, **limit) for kind in LEAVES),
            f"uct({', '.join(f'{name}={value}' for name, value in limit.items())})",
        ]
        played = bench.matches(specs)
        elo, first = played.elo(), LEAVES["random rollouts"]
        names = [*LEAVES, "random rollouts, UCT without a network"]
        rows = [
            [
                name, f"{LEAVES[name] - first:+d}" if name in LEAVES else "-", elo[number].signed() if number else "+0",
                share(played.score(number)),
            ]
            for number, name in enumerate(names)
        ]  # fmt: skip
        yield Table(
            f"Values of leaves, {title} a move",
            ["values", "document, Elo", "measured, Elo", "score against the others"],
            rows,
            "All but the last search with the network's priors. Policy rollouts are games by the network's policy, one "
            "from each leaf, played in Python with a batch of the network for each move.",
        )


def batching(bench: Bench) -> Iterable[Table]:
    """Measure the speed and the strength of a search by the size of its batches."""
    many, long = bench.few(400, 16), bench.few(2000, 100)
    rows, first, first_alone = [], 0.0, 0.0
    for size, claimed in BATCHES.items():
        alone, (_, rates, reached) = network_speed(bench, size), speed(bench, long, size)
        first, first_alone = first or rates, first_alone or alone
        strength = "+0"
        if size > 1:
            played = bench.match(bench.spec(simulations=many, batch_size=size), bench.spec(simulations=many))
            strength = played.rating.elo.signed()
        rows.append(
            [
                str(size), "-" if claimed is None else f"{claimed / 100:g} x", f"{alone / first_alone:.1f} x",
                f"{alone:,.0f}", f"{rates / first:.1f} x", f"{rates:,.0f}", f"{reached:.1f}", strength,
            ]
        )  # fmt: skip
    head = [
        "batch", "document", "network alone", "evaluations/s", "in a search", "evaluations/s", "mean batch",
        "Elo over batch 1",
    ]  # fmt: skip
    yield Table(
        f"Batches of leaves: speed in searches of {long:,} simulations, strength at {many} simulations a move",
        head,
        rows,
        "One core without a GPU: a larger batch saves the cost of a call, not arithmetic.",
    )


def network_speed(bench: Bench, size: int) -> float:
    """Return the evaluations a second of the network alone, in batches of one size: a median."""
    model, times = bench.model(), list[float]()
    given = np.random.default_rng(1).integers(0, 2, (size, *model.architecture.observation)).astype(np.float32)
    for _ in range(bench.few(100, 10)):
        start = time.perf_counter()
        model.run(given)
        times.append(time.perf_counter() - start)
    return size / statistics.median(times)


def play_out(evaluator: Any, many: int, seed: int, *, trees: int = 1, reuse: bool = True) -> list[float]:
    """Play a game after two random moves; return the share of each tree, after its search, that is older than that.

    With one tree both sides share it, with two each has its own. Forced moves are left out.
    """

    def new() -> tt.Search:
        return tt.Search(position, tt.puct(1.5), evaluator=evaluator, seed=seed)

    position, kept = tt.position(FOUR), list[float]()
    for ply in range(2):
        position = position.apply(position.sample_action(2 * seed + ply))
    searches = [new() for _ in range(trees)]
    for side in itertools.cycle(range(trees)):
        result = searches[side].run(tt.Limit(simulations=many))
        total = sum(result.visits.values())
        if result.simulations == many and len(position.actions) >= 2 + trees:  # not the first search of a tree
            kept.append(max(0, total - many) / total)
        position = position.apply(result.action)
        if position.is_terminal:
            break
        for place, search in enumerate(searches):
            if reuse:
                search.advance(result.action)
            else:
                searches[place] = new()
    return kept


def cache(bench: Bench) -> Iterable[Table]:
    """Count the evaluations that a cache saves."""
    many, games = bench.few(400, 20), bench.few(20, 2)

    def search(cached: tt.evaluators.Cached, seed: int) -> None:
        tt.search(positions(1, seed)[0], tt.puct(1.5), evaluator=cached, simulations=many, seed=seed)

    def game(cached: tt.evaluators.Cached, seed: int) -> None:
        play_out(cached, many, seed)

    def game_of_new_trees(cached: tt.evaluators.Cached, seed: int) -> None:
        play_out(cached, many, seed, reuse=False)

    rows = []
    for title, work, clears in (
        ("one search", search, True),
        ("a game of self-play, tree reuse", game, True),
        ("a game of self-play, new trees", game_of_new_trees, True),
        (f"{games} games of self-play, tree reuse", game, False),
    ):
        cached, hits, asked = tt.evaluators.Cached(bench.model()), 0, 0
        for seed in range(games):
            before = cached.hits, cached.misses
            work(cached, seed)
            hits, asked = hits + cached.hits - before[0], asked + cached.hits + cached.misses - sum(before)
            if clears:
                cached = tt.evaluators.Cached(cached.evaluator)
        rows.append([title, CACHE, f"{hits / asked:.1%}", f"{asked:,}"])
    yield Table(
        f"A cache of evaluations, {many} simulations a move",
        ["cache", "document, calls saved", "measured", "asked for"],
        rows,
        "A cache serves what the first column names. A search asks for each node once; two nodes may be one position.",
    )


def reuse(bench: Bench) -> Iterable[Table]:
    """Measure what a kept tree is worth."""
    many, games, (needed, claimed) = bench.few(400, 20), bench.few(40, 2), REUSE
    model = bench.model()
    played = [kept for seed in range(games) if (kept := play_out(model, many, seed, trees=2))]
    mean = mean_interval([statistics.fmean(kept) for kept in played])
    less = max(1, round(needed * many))
    plain = bench.spec(simulations=many, reuse=False)
    equal = bench.match(bench.spec(simulations=many), plain)
    fewer = bench.match(bench.spec(simulations=less), plain)
    rows = [
        ["simulations of a tree that an earlier search has made", "40% to 50%", share(mean)],
        [f"Elo of reuse, {many} simulations each", "-", equal.rating.elo.signed()],
        [f"Elo of reuse with {less} simulations against {many} without", "+0", fewer.rating.elo.signed()],
    ]
    yield Table(
        "Tree reuse",
        ["figure", "document", "measured"],
        rows,
        f"The document: {claimed} of the simulations are needed.",
    )


def branching(bench: Bench) -> Iterable[Table]:
    """Count legal moves in games of random and of searching players."""
    many, rows = bench.few(100, 10), []
    for name, claimed in BRANCHING.items():
        games, means = bench.few(10 if claimed > 100 else 100, 2), []
        for spec in ("random", f"uct(simulations={many})"):
            game, counts = tt.load_game(name), list[float]()
            player = tt.players.make_player(spec, game)
            for seed in range(games):
                position, legal = tt.position(game), list[int]()
                player.begin(position, seed)
                while not position.is_terminal:
                    legal.append(len(position.legal_actions()))
                    action = player.choose(position)
                    player.observe(action)
                    position = position.apply(action)
                counts.append(statistics.fmean(legal))
            means.append(str(mean_interval(counts)))
        rows.append([name, f"about {claimed}", *means])
    yield Table(
        "Branching factor: mean legal moves of a position, means over games",
        ["game", "document", "random play", f"play by UCT, {many} simulations"],
        rows,
        "100 games of each, 10 of Go.",
    )


def generalisation(bench: Bench) -> Iterable[Table]:
    """Play variants with the same network; the opponent is a search by rollouts, which needs no training."""
    many = bench.few(64, 4)
    variants: list[tuple[str, str, int | None, int | None]] = [
        ("the same rules", "four()", None, None),
        ("after 12 random moves", "four()", 12, OTHER_START),
        ("5 of 6 rows", "four(rows=5)", None, SMALLER),
        ("5 of 7 columns", "four(columns=5)", None, MUCH_SMALLER),
        ("rows and columns only", "four(diagonals=False)", None, None),
        ("a cylinder", "four(wrap=True)", None, None),
    ]
    for title, player, opponent in (
        (f"a search of {many} simulations", bench.spec(simulations=many), f"uct(simulations={bench.few(1000, 10)})"),
        ("the raw network", bench.spec("raw"), f"uct(simulations={bench.few(100, 10)})"),
    ):
        rows, usual = [], Interval(0.0, 0.0, 0.0)
        for name, game, plies, claimed in variants:
            played = bench.match(player, opponent, f"{HERE.parent / 'four_variants.py'}:{game}", plies)
            elo = played.rating.elo
            usual = elo if not rows else usual
            lost = difference(elo, usual) if rows else "+0"
            rows.append([name, "-" if claimed is None else f"{claimed:+d}", lost, elo.signed()])
        rows.append(["8 columns", "-", "does not fit", "-"])
        yield Table(
            f"Generalisation without training: {title}",
            ["variant", "document, Elo", "measured, change of Elo", f"Elo over {opponent}"],
            rows,
            "The document's figures are for Chess960 and for Go on 13 x 13 and 9 x 9. The dense heads of a network "
            "have the size of its board: a smaller board is played as a part of it, a larger one does not fit. The "
            "opponent's own strength may differ between variants.",
        )


def difference(one: Interval, other: Interval) -> str:
    """Return the difference of two independent Elo estimates, with its interval."""
    value = one.value - other.value
    if not math.isfinite(value):
        return "unknown"
    low = value - math.hypot(one.value - one.low, other.high - other.value)
    high = value + math.hypot(one.high - one.value, other.value - other.low)
    return f"{format_signed(value)} ({format_signed(low)} to {format_signed(high)})"


PARTS: dict[str, Callable[[Bench], Iterable[Table]]] = {
    "simulations": simulations, "exploration": exploration, "values": values, "batching": batching, "cache": cache,
    "reuse": reuse, "branching": branching, "generalisation": generalisation,
}  # fmt: skip


def main() -> None:
    """Measure, print, and optionally write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the folder of a network of connect_four")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="tables to print")
    parser.add_argument("--games", type=int, default=100, help="of each match")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, help="processes of a match (default: one for each core)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="save the matches, and continue them")
    parser.add_argument("--quick", action="store_true", help="a smoke test: few games and simulations")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all tables to a file")
    options = parser.parse_args()
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    games = 2 if options.quick else options.games
    run = str(Path(options.run).resolve())
    bench = Bench(run, games, options.seed, options.workers, options.out, options.quick)
    tables = []
    for part in options.only:
        for table in PARTS[part](bench):
            print(table, flush=True)
            tables.append(asdict(table))
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1) + "\n")


if __name__ == "__main__":
    main()
