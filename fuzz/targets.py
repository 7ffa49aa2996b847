"""The targets of fuzzing: how each makes real files, and how it uses an input. Only Treetop errors are allowed."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import treetop as tt
from fuzz.mutate import Mutate, make_text, mutate_bytes, mutate_json, mutate_lines
from treetop.arena.evaluation import evaluate
from treetop.arena.log import read_match
from treetop.arena.matches import match, match_many
from treetop.arena.players_file import read_players
from treetop.game.notation.epd import epd_text, parse_epd, read_epd
from treetop.game.notation.pgn import parse_pgn, read_pgn
from treetop.game.notation.pgn_writing import pgn_text
from treetop.game.notation.sgf import parse_sgf, read_sgf
from treetop.game.notation.sgf_writing import sgf_text
from treetop.game.notation.texts import ENCODINGS
from treetop.game.records import GameRecord, load_game_record, save_game
from treetop.game.registry import BUNDLED, load_bundled
from treetop.lab.runs import Run, RunLog, read_runs
from treetop.players.rules import parse_rule
from treetop.players.spec import make_player, parse_spec, player_names, runs_code
from treetop.prove.coq.documents import Document
from treetop.prove.coq.goals import CoqGoal, Hypothesis
from treetop.prove.coq.recording import Example
from treetop.prove.coq.recording import _line as coq_line
from treetop.prove.coq.recording import _read as read_examples
from treetop.prove.coq.settings import LoadPath
from treetop.prove.logic.theorem import LogicTheorem
from treetop.search.evaluator import make_evaluator
from treetop.search.saving import KIND, VERSION
from treetop.serve.run_folder import Folder
from treetop.serve.run_replay import Recorded
from treetop.text import json_text
from treetop.tree.files import read, write

for _module in BUNDLED.values():  # importing one runs its code, which is not what a text must not do
    importlib.import_module(_module)


@dataclass(frozen=True)
class Target:
    """One kind of input."""

    name: str
    run: Callable[[Path, Any], None]
    """Use an input; the folder has the real files."""
    make: Callable[[random.Random, Path], Any]
    """Return an input."""
    prepare: Callable[[Path], None] = lambda folder: None
    """Write the real files, and use each once, so that all code is loaded and compiled before the guard is active."""
    imports: bool = False
    """Whether the text may import modules, as a text that a user typed."""
    share: int = 1
    """The relative share of all inputs."""


# Texts.

_GAMES = (
    *BUNDLED,
    "hex(size=7)",
    "gomoku(size=9, line=5)",
    "nim(stones=5)",
    "treetop.games.nim:nim(stones=3)",
    "os:system('true')",
    "folder/file.py:Game",
    "pendulum(wind=0.5)",
    "breakthrough(size=5)",
    "goofspiel(cards=4)",
    "sailing(size=5)",
    "blackjack(decks=1)",
)
_PLAYERS = (
    *player_names(),
    "uct(c=1.4, simulations=10)",
    "puct(simulations=5, evaluator='mixed(heuristic, weight=0.5)', reuse=False)",
    "alphabeta(depth=2, table=1024)",
    "os:system('true')",
    "treetop.players.spec:make_player",
    'uci("true", nodes=5)',
    "uct(max_nodes=100, solver=True)",
    "gumbel(max_considered=4)",
    "random(name='x')",
)
_RULES = (
    "uct",
    "puct(c=1.5)",
    "grave(amaf_reference=50, solver=True)",
    "gumbel",
    "rollout(policy='mast', epsilon=0.1)",
    "mixed(heuristic, rollout(count=2), weight=0.5)",
    "uniform",
    "heuristic(prior_temperature=0.5)",
)
_FORMULAS = (
    "p & q -> q & p",
    "(p | q -> r) <-> (p -> r) & (q -> r)",
    "~~(p | ~p)",
    "fof(a, axiom, (p => q)). fof(c, conjecture, (~ q => ~ p)).",
    "((" * 20 + "p" + "))" * 20,
)
NIM = tt.load_game("nim")


def _begin(game: tt.Game) -> None:
    position = tt.Position.start(game, tt.Rng(1))
    for _ in range(2):
        position = position.resolve_chance(tt.Rng(2))
        if position.is_terminal or position.player < 0 or position.is_continuous:
            return
        position = position.apply(position.legal_actions()[0])


def _game(folder: Path, text: str) -> None:
    _begin(tt.load_game(text))


def _game_of_file(folder: Path, text: str) -> None:
    _begin(load_bundled(text))


def _player(folder: Path, text: str) -> None:
    # A spec of an engine starts a program, as the user wants, so it is skipped.
    if not runs_code(parse_spec(text)) or ":" in parse_spec(text).name:
        make_player(text, NIM).close()


def _rule(folder: Path, text: str) -> None:
    failed = 0
    for use in (lambda: parse_rule(text, None), lambda: make_evaluator(text)):
        try:
            use()
        except tt.TreetopError:
            failed += 1
    if failed == 2:
        raise tt.errors.ConfigError("neither")


def _formula(folder: Path, text: str) -> None:
    file = folder / "input.p"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        LogicTheorem.read(text)
    except tt.TreetopError:
        LogicTheorem.load(file)


def _texts(real: tuple[str, ...]) -> Callable[[random.Random, Path], str]:
    return lambda rng, folder: make_text(rng, real)


# Files.


def _changed(mutate: Mutate, *names: str) -> Callable[[random.Random, Path], bytes]:
    def make(rng: random.Random, folder: Path) -> bytes:
        content = (folder / rng.choice(names)).read_bytes()
        return rng.randbytes(rng.choice((0, 5, 300))) if rng.random() < 0.02 else mutate(rng, content)

    return make


def _input(folder: Path, content: bytes) -> Path:
    file = folder / "input"
    file.write_bytes(content)
    return file


def _prepare_players(folder: Path) -> None:
    (folder / "players.toml").write_text(
        '[players.strong]\nspec = "uct(simulations=5000)"\n[players]\nquick = "random"\nother = "alphabeta(depth=2)"\n'
        "engine = 'uci(\"true\")'\nown = 'os:system'\n"
    )
    (folder / "plain.toml").write_text('[players]\nquick = "uct(simulations=100, evaluator=rollout(count=2))"\n')
    _players(folder, (folder / "plain.toml").read_bytes())


def _players(folder: Path, content: bytes) -> None:
    for spec in read_players(_input(folder, content)).values():
        make_player(spec, NIM).close()


def _prepare_game(folder: Path) -> None:
    save_game(folder / "nim.json", GameRecord.of(tt.position("nim", moves="1 2 3"), (0,)))
    save_game(folder / "leduc.json", GameRecord.of(tt.position("leduc_poker", seed=3), (0,), deal=3))
    for name in ("nim.json", "leduc.json"):
        load_game_record(folder / name).position()


def _saved_game(folder: Path, content: bytes) -> None:
    load_game_record(_input(folder, content)).position()


_ROUND = {"games": 6, "seed": 1, "workers": 1, "opening_plies": 1, "balanced": False}


def _prepare_match(folder: Path) -> None:
    match("random", "greedy", "nim", out=folder / "match.jsonl", **_ROUND)
    match_many(["random"] * 3, "nim_three", out=folder / "many.jsonl", **_ROUND, names=["a", "b", "c"])
    for _ in range(2):  # the second call reads the file
        evaluate("cliff_walking", ["random"], games=4, seed=1, workers=1, out=folder / "evaluation.jsonl")
    for name in ("match.jsonl", "many.jsonl", "evaluation.jsonl"):
        read_match(folder / name)


def _match(folder: Path, content: bytes) -> None:
    file = _input(folder, content)
    errors = []
    for use in (
        lambda: match("random", "greedy", "nim", out=file, **_ROUND),
        lambda: match_many(["random"] * 3, "nim_three", out=file, **_ROUND, names=["a", "b", "c"]),
        lambda: evaluate("cliff_walking", ["random"], games=4, seed=1, workers=1, out=file),
        lambda: read_match(file),
    ):
        try:
            use()
        except tt.TreetopError as error:
            errors.append(error)
    if len(errors) == 4:
        raise errors[-1]


_PGN = """[Event "A \\"B\\""]
[White "Réti"]
[Result "1-0"]

{ start } 1.e4! e5 $14 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Qh5?? ; the rest
2... Nc6 3 Bc4 Nf6 (3... g6) 4. Qxf7# 1-0

[Variant "Chess960"]
[SetUp "1"]
[FEN "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"]

1. e4 e5 2. d3 *
"""
_SGF = """(;FF[4]GM[1]CA[UTF-8]SZ[9]KM[6.5]PB[A\\]]AB[aa:bb][ee]PL[W];W[cc]C[x](;B[];W[tt])(;B[gg];W[gc]))
(;FF[3]GM[2];Black[dc];White[ec])
(;GM[11]SZ[5];B[a1];W[bb])
"""
_EPD = """6k1/5ppp/8/8/8/8/8/R3K3 w Q - bm Ra8#; am Kd1; id "mate"; ce -31; c0 "a; b";
4k3/8/8/8/8/8/8/4K2R w K - 7 30 bm O-O
"""


def _prepare_notation(folder: Path) -> None:
    for name, text, use in (("a.pgn", _PGN, _pgn), ("a.sgf", _SGF, _sgf), ("a.epd", _EPD, _epd)):
        (folder / name).write_text(text)
        use(folder, text.encode())
    for name in ENCODINGS:
        "".encode(name)


def _pgn(folder: Path, content: bytes) -> None:
    file = _input(folder, content)
    skipped: list[tt.errors.SaveError] = []
    for game in read_pgn(file, variations=True, skipped=skipped):
        [back] = parse_pgn(pgn_text(game))
        if back.end != game.end:
            raise AssertionError(f"written and read again, {game.source} has another end")
    if skipped:
        raise skipped[0]


def _sgf(folder: Path, content: bytes) -> None:
    file = _input(folder, content)
    skipped: list[tt.errors.SaveError] = []
    for game in read_sgf(file, variations=True, skipped=skipped):
        [back] = parse_sgf(sgf_text(game))
        if back.end != game.end:
            raise AssertionError(f"written and read again, {game.source} has another end")
    if skipped:
        raise skipped[0]


def _epd(folder: Path, content: bytes) -> None:
    skipped: list[tt.errors.SaveError] = []
    for one in read_epd(_input(folder, content), skipped=skipped):
        [back] = parse_epd(epd_text(one))
        if (back.position, set(back.best)) != (one.position, set(one.best)):
            raise AssertionError(f"written and read again, {one.source} is another position")
    if skipped:
        raise skipped[0]


_PAGES = Path(__file__).resolve().parents[1] / "tests" / "serve" / "data" / "othello"


def _prepare_folder(folder: Path) -> None:
    _prepare_match(folder)
    (folder / "metrics.jsonl").write_bytes((_PAGES / "metrics.jsonl").read_bytes())
    for name in ("match.jsonl", "many.jsonl", "evaluation.jsonl", "metrics.jsonl"):
        _folder(folder, (folder / name).read_bytes())


def _folder(folder: Path, content: bytes) -> None:
    """Show a folder with the input as a match, a part of a tournament, and the metrics and the header of a run."""
    place = folder / "shown"
    for name in ("run", "other"):
        (place / name).mkdir(parents=True, exist_ok=True)
    (place / "run" / "run.json").write_bytes((_PAGES / "run.json").read_bytes())
    for name in ("match.jsonl", "a-vs-b-01234567.jsonl", "run/metrics.jsonl", "other/run.json"):
        (place / name).write_bytes(content)
    shown = Folder(place)
    for row in shown.rows()["entries"]:
        json_text(shown.detail(row["id"]))
        if not row["error"]:
            _games(shown, row["id"])


def _games(shown: Folder, entry: str) -> None:
    """Ask for the games of an entry, if it has some, and replay the first one."""
    try:
        first = shown.games(entry, lambda content: content.page(0, 50))["numbers"][0]
        json_text(shown.games(entry, lambda content: content.view(content.record(first))))
        found = shown.games(entry, lambda content: Recorded(content, content.record(first)))
        found.line(load_bundled(found.game))
    except (LookupError, tt.TreetopError):
        return


_REPORT = {"c": 1.4, "seeds": [0, 1], "policies": ["ucb1"], "theorems": ["a", "b"]}


def _prepare_runs(folder: Path) -> None:
    with RunLog(folder / "runs.jsonl", _REPORT) as log:
        for theorem, status in (("a", "proved"), ("b", "open"), ("c", "failed")):
            log.append(
                Run(
                    theorem, "ucb1", 0, status, 3, 5, 2, 0.25, "f" * 16 if status == "proved" else "", "auto.", 1, "why"
                )
            )


def _runs(folder: Path, content: bytes) -> None:
    file = _input(folder, content)
    read_runs(file)
    with RunLog(file, _REPORT) as log:
        log.select(["a", "b"], ["ucb1"], [0])


def _prepare_coq(folder: Path) -> None:
    goal = CoqGoal((Hypothesis("n", "nat"), Hypothesis("x", "nat", "3")), "n = n")
    (folder / "examples.jsonl").write_text(
        "".join(coq_line(f"lemma{index}@3", [Example(goal, "auto.", "l")]) + "\n" for index in range(3))
    )
    (folder / "Lists.v").write_bytes((Path(__file__).resolve().parents[1] / "examples" / "Lists.v").read_bytes())
    (folder / "project").write_text('-Q . Lists\n-R "a b" Other\n-arg "-w none"\n# a comment\nLists.v\n')


def _coq_record(folder: Path, content: bytes) -> None:
    read_examples(_input(folder, content))


def _coq_file(folder: Path, content: bytes) -> None:
    for lemma in Document(content.decode("utf-8", "surrogateescape"), "input.v").lemmas:
        _ = lemma.qualified, lemma.line


def _coq_project(folder: Path, content: bytes) -> None:
    (folder / "_CoqProject").write_bytes(content)
    LoadPath.of(folder / "Lists.v")


class _Heap:
    """Nim over Python objects."""

    num_players = 2

    def initial(self) -> tuple[int, int]:
        return (15, 0)

    def player(self, state: tuple[int, int]) -> int:
        return state[1]

    def actions(self, state: tuple[int, int]) -> range:
        return range(min(3, state[0]))

    def step(self, state: tuple[int, int], action: int) -> tuple[int, int]:
        return (state[0] - action - 1, 1 - state[1])

    def is_terminal(self, state: tuple[int, int]) -> bool:
        return state[0] == 0

    def rewards(self, state: tuple[int, int]) -> tuple[int, int]:
        return (-1, 1) if state[1] == 0 else (1, -1)


async def _answer(state: tuple[int, int], actions: list[int]) -> Any:
    return [1 + action for action in actions], 0.25, 1.0


def _replay(folder: Path, content: bytes) -> None:
    search = tt.Search(_Heap(), tt.puct(c=1.5), seed=3)
    search.run_remote(tt.Limit(simulations=30), in_flight=4, replay=_input(folder, content))
    search.tree.check()


def _prepare_calls(folder: Path) -> None:
    tt.Search(_Heap(), tt.puct(c=1.5), seed=3).run_remote(
        tt.Limit(simulations=30), _answer, in_flight=4, record=folder / "calls.jsonl"
    )
    _replay(folder, (folder / "calls.jsonl").read_bytes())


# Saved searches. An accepted one is continued: a tree that would crash a kernel crashes this process.

_SEARCHES = {
    "nim.treetop": ("nim", tt.uct()),
    "graph.treetop": ("tic_tac_toe", tt.uct(solver=True, transpositions=True)),
    "full.treetop": ("nim", tt.gumbel(solver=True)),
    "halving.treetop": ("nim", tt.rules.halving()),
    "chance.treetop": ("pig(goal=20)", tt.uct()),
    "amaf.treetop": ("nim", tt.rules.grave()),
}


def _prepare_saves(names: tuple[str, ...]) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        for name in names:
            game, config = _SEARCHES[name]
            search = tt.Search(tt.position(game).resolve_chance(tt.Rng(1)), config, seed=1)
            search.run(tt.Limit(simulations=60))
            search.save(folder / name)
            _search(folder, (folder / name).read_bytes())

    return prepare


def _search(folder: Path, content: bytes) -> None:
    search = tt.Search.load(_input(folder, content))
    if not search.position.is_terminal and search.simulations + 40 < 2**31:
        search.run(tt.Limit(simulations=40))
    search.tree.check()


def _save_with_changes(*names: str) -> Callable[[random.Random, Path], bytes]:
    """Return a function that changes the content of a save and writes it with right checksums."""

    def make(rng: random.Random, folder: Path) -> bytes:
        header, arrays = read(folder / rng.choice(names), KIND, VERSION)
        if rng.random() < 0.3:
            header = json.loads(mutate_json(rng, json.dumps(header).encode()))
        else:
            for _ in range(rng.choice((1, 1, 2, 3))):
                name = rng.choice(("links", "links", "stats", "control", *arrays))
                arrays[name] = _changed_array(rng, arrays[name])
        write(folder / "made", header, arrays)
        return (folder / "made").read_bytes()

    return make


def _changed_array(rng: random.Random, array: Any) -> Any:
    kind = rng.randrange(12)
    if kind == 0:
        return array[: rng.randrange(len(array) + 1)] if array.ndim else array
    if kind == 1:
        return (
            array.astype("f4")
            if array.dtype.names is None
            else array.tobytes() and np.frombuffer(array.tobytes(), np.uint8)
        )
    if kind == 2:
        return np.concatenate([array, array[: rng.randrange(1, 5)]]) if array.ndim else array
    array = array.copy()
    if not array.size:
        return array
    place = rng.choice((0, 1, rng.randrange(len(array)))) % len(array)
    if array.dtype.names is None:
        cells = array.reshape(-1)
        place = rng.randrange(len(cells))
        cells[place] = _number(rng, cells.dtype, cells[place])
        return array
    name = rng.choice(array.dtype.names)
    if array[name].ndim == 1:
        array[name][place] = _number(rng, array[name].dtype, array[name][place])
    return array


def _number(rng: random.Random, dtype: Any, before: Any) -> Any:
    if dtype.kind == "f":
        return dtype.type(rng.choice((np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e30, float(before) + 1)))
    if dtype.kind == "b":
        return not before
    info = np.iinfo(dtype)
    wanted = rng.choice(
        (
            int(before) + 1,
            int(before) - 1,
            0,
            1,
            2,
            -1,
            rng.randrange(300),
            info.max,
            info.min,
            rng.randrange(info.min, info.max),
        )
    )
    return min(max(wanted, info.min), info.max)


def targets(*, quick: bool) -> list[Target]:
    """Return all targets. `quick` leaves out those that take long to compile."""
    saves = ("nim.treetop",) if quick else tuple(_SEARCHES)
    return [
        Target("game specs", _game, _texts(_GAMES), imports=True, share=3),
        Target("game names in files", _game_of_file, _texts(_GAMES), share=2),
        Target("player specs", _player, _texts(_PLAYERS), imports=True, share=3),
        Target("rules and evaluators", _rule, _texts(_RULES), share=2),
        Target("formulas and problems", _formula, _texts(_FORMULAS), share=2),
        Target(
            "players files",
            _players,
            _changed(mutate_bytes, "players.toml", "plain.toml", "plain.toml"),
            _prepare_players,
            share=2,
        ),
        Target("saved games", _saved_game, _changed(mutate_lines, "nim.json", "leduc.json"), _prepare_game, share=3),
        Target("games in PGN", _pgn, _changed(mutate_bytes, "a.pgn"), _prepare_notation, share=2),
        Target("games in SGF", _sgf, _changed(mutate_bytes, "a.sgf"), _prepare_notation, share=2),
        Target("positions in EPD", _epd, _changed(mutate_bytes, "a.epd"), _prepare_notation),
        Target(
            "matches and evaluations",
            _match,
            _changed(mutate_lines, "match.jsonl", "many.jsonl", "evaluation.jsonl"),
            _prepare_match,
            share=3,
        ),
        Target(
            "folders of runs",
            _folder,
            _changed(mutate_lines, "match.jsonl", "many.jsonl", "evaluation.jsonl", "metrics.jsonl"),
            _prepare_folder,
            share=2,
        ),
        Target("runs of proofs", _runs, _changed(mutate_lines, "runs.jsonl"), _prepare_runs, share=2),
        Target("records of calls", _replay, _changed(mutate_lines, "calls.jsonl"), _prepare_calls, share=2),
        Target("examples of Coq", _coq_record, _changed(mutate_lines, "examples.jsonl"), _prepare_coq),
        Target("files of Coq", _coq_file, _changed(mutate_bytes, "Lists.v"), _prepare_coq),
        Target("projects of Coq", _coq_project, _changed(mutate_bytes, "project"), _prepare_coq),
        Target("saved searches, bytes", _search, _changed(mutate_bytes, *saves), _prepare_saves(saves), share=2),
        Target("saved searches, content", _search, _save_with_changes(*saves), _prepare_saves(saves), share=6),
    ]
