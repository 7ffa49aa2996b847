"""Play games between `treetop uci`, `gtp` and `usi` and the programs of others, and count the errors of the protocols.

`python bench/clients.py --games 50` (needs python-chess, GNU Go, polyglot, uci2wb, xboard, xvfb, fairymax, hoichess and
fairy-stockfish: what is missing is left out, and said). `--only chess` plays one part.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import treetop as tt
from treetop.errors import PlayerError, TreetopError
from treetop.players.gtp import GtpEngine
from treetop.players.line_process import LineProcess, find_program

ENGINE = [sys.executable, "-m", "treetop"]
_DEADLINE = 120.0
_MATCH_SECONDS = 900.0
_LONGEST = 160  # plies of a game of chess


@dataclass
class Report:
    """What was played, and what went wrong."""

    rows: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, client: str, what: str, moves: int, errors: list[str]) -> None:
        """Note a game."""
        row = self.rows.setdefault((client, what), [0, 0, 0])
        for place, number in enumerate((1, moves, len(errors))):
            row[place] += number
        self.errors += [f"{client}, {what}: {error}" for error in errors]
        print(f"{client}, {what}: {moves} moves, {len(errors)} errors", file=sys.stderr, flush=True)
        for error in errors:
            print(f"  {error}", file=sys.stderr, flush=True)

    def table(self) -> str:
        """Return a table in Markdown."""
        lines = ["| client | games | of | moves | errors |", "|---|---:|---|---:|---:|"]
        lines += [f"| {key[0]} | {row[0]} | {key[1]} | {row[1]:,} | {row[2]} |" for key, row in self.rows.items()]
        return "\n".join(lines)


# Chess, by python-chess.


class _Complaints(logging.Handler):
    """Collects what python-chess says about lines that it does not understand, and the engine's own errors."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno >= logging.WARNING or "info string error" in text:
            self.found.append(text)


KINDS = ("nodes", "Chess960", "from a FEN", "clocks", "pondering", "MultiPV and stop", "movetime")


def chess_games(report: Report, games: int, seed: int) -> None:
    """Play games of all kinds with one engine: half of them against random moves, half against itself."""
    import chess.engine

    complaints, log = _Complaints(), logging.getLogger("chess.engine")
    log.addHandler(complaints)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    with chess.engine.SimpleEngine.popen_uci([*ENGINE, "uci", "--game", "chess"], timeout=_DEADLINE) as engine:
        for number in range(games):
            rng, kind, moves = random.Random(f"{seed}/{number}"), KINDS[number % len(KINDS)], 0
            complaints.found.clear()
            errors = list[str]()
            try:
                moves = _chess_game(engine, kind, rng, errors, number)
            except (chess.engine.EngineError, TimeoutError, AssertionError):
                errors.append(traceback.format_exc(limit=-2))
            report.add("python-chess", kind, moves, [*errors, *complaints.found])


def _chess_game(engine: Any, kind: str, rng: random.Random, errors: list[str], number: int) -> int:
    import chess.engine

    board = chess.Board.from_chess960_pos(rng.randrange(960)) if kind == "Chess960" else chess.Board()
    if kind == "from a FEN":
        while board.ply() < 20 and not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
        board = chess.Board(board.fen())
    clocks, moves, alone = [5.0, 5.0], 0, number % 2 == 0
    while not board.is_game_over() and len(board.move_stack) < _LONGEST:
        if not alone and board.turn == chess.BLACK:
            board.push(rng.choice(list(board.legal_moves)))
            continue
        limit = chess.engine.Limit(nodes=200)
        if kind in ("clocks", "pondering"):
            limit = chess.engine.Limit(
                white_clock=clocks[0], black_clock=clocks[1], white_inc=0.1, black_inc=0.1,
                remaining_moves=rng.choice((None, 1, 5)),
            )  # fmt: skip
        elif kind == "movetime":
            limit = chess.engine.Limit(time=0.05)
        begin, side = time.monotonic(), 1 - int(board.turn)
        if kind == "MultiPV and stop":
            result = _analysed(engine, board, rng, errors)
        else:
            result = engine.play(board, limit, game=(number, kind), ponder=kind == "pondering").move
        if kind in ("clocks", "pondering"):
            clocks[side] -= time.monotonic() - begin
            if clocks[side] <= 0.0:
                errors.append(f"lost on time after {len(board.move_stack)} plies, by {limit}: {clocks}")
                return moves
            clocks[side] = 5.0 if limit.remaining_moves == 1 else clocks[side] + 0.1
        if result is None:
            errors.append(f"no move in {board.fen()}")
            return moves
        board.push(result)
        moves += 1
    return moves


def _analysed(engine: Any, board: Any, rng: random.Random, errors: list[str]) -> Any:
    """Analyse several variations without an end, stop after some reports, and return the best move."""
    wanted = min(3, board.legal_moves.count())
    with engine.analysis(board, multipv=3) as analysis:
        reports = rng.randrange(1, 8)
        for number, _ in enumerate(analysis):
            if number >= reports:
                break
        analysis.stop()
        best = analysis.wait()
    if len(analysis.multipv) != wanted or any("pv" not in info for info in analysis.multipv):
        errors.append(f"{len(analysis.multipv)} variations, not {wanted}, of {board.fen()}")
    return best.move


# Go, with GNU Go as the referee.


def go_games(report: Report, games: int, seed: int) -> None:
    """Play against GNU Go, which takes part in each move; after each the boards must be equal, and the captures too."""
    gnugo = "gnugo --mode gtp --level 1 --chinese-rules --positional-superko --forbid-suicide"
    ours = GtpEngine([*ENGINE, "gtp", "--game", "go(size=9)", "--simulations", "100"], start_deadline=_DEADLINE,
                     deadline=_DEADLINE)  # fmt: skip
    theirs = GtpEngine(gnugo.split(), start_deadline=_DEADLINE, deadline=_DEADLINE)
    try:
        for number in range(games):
            rng = random.Random(f"{seed}/{number}")
            kind = ("plain", "undo", "clocks", "analysis", "handicap")[number % 5]
            errors, moves = list[str](), 0
            try:
                moves = _go_game(ours, theirs, kind, rng, number, errors)
            except PlayerError as error:
                errors.append(str(error))
                report.add("GNU Go", kind, moves, errors)
                return
            report.add("GNU Go", kind, moves, errors)
    finally:
        ours.close()
        theirs.close()


def _go_game(ours: GtpEngine, theirs: GtpEngine, kind: str, rng: random.Random, number: int, errors: list[str]) -> int:
    both, players, passes, moves, placed = (ours, theirs), ["b", "w"], 0, 0, {"b": 0, "w": 0}
    for engine in both:
        engine.new_game(9, 7.5)
        if kind == "clocks":
            engine.ask("time_settings 60 10 5")
    theirs.ask(f"set_random_seed {rng.randrange(2**30)}")
    if kind == "handicap":
        count = rng.choice((2, 3, 4, 5, 8, 9))
        answers = [set(engine.ask(f"fixed_handicap {count}").split()) for engine in both]
        if answers[0] != answers[1]:
            errors.append(f"handicap of {count}: {answers}")
        players.reverse()
        placed["b"] = count
    while passes < 2 and moves < 220:
        colour = players[moves % 2]
        mine = (moves + number) % 2 == 0
        if kind == "clocks" and mine:
            ours.ask(f"time_left {colour} {rng.choice((0, 1, 5, 60))} {rng.choice((0, 0, 2))}")
        if kind == "analysis":
            _analyse(ours, rng.choice(("lz-analyze", "kata-analyze")), colour, errors)
        mover, other = both if mine else both[::-1]
        move = mover.generate(colour)
        if move == "resign":
            return moves
        other.play(colour, move)
        moves += 1
        passes = passes + 1 if move == "pass" else 0
        placed[colour] += move != "pass"
        if kind == "undo" and rng.random() < 0.3:
            for engine in both:
                engine.ask("undo")
            _compare(ours, theirs, None, errors)
            for engine in both:
                engine.play(colour, move)
        _compare(ours, theirs, placed if kind != "undo" else None, errors)
    _score(ours, theirs, passes, errors)
    return moves


def _stones(engine: GtpEngine, colour: str) -> set[str]:
    return set(engine.ask(f"list_stones {colour}").split())


def _compare(ours: GtpEngine, theirs: GtpEngine, placed: dict[str, int] | None, errors: list[str]) -> None:
    """Note where the boards or the captures differ."""
    for colour, name, other in (("b", "black", "w"), ("w", "white", "b")):
        mine = _stones(ours, name)
        if mine != _stones(theirs, name):
            errors.append(f"the boards differ:\n{ours.ask('showboard')}\n{theirs.ask('showboard')}")
        captured = int(theirs.ask(f"captures {'white' if other == 'w' else 'black'}"))
        if placed is not None and placed[colour] - len(mine) != captured:
            errors.append(f"{placed[colour] - len(mine)} stones of {name} were captured, not {captured}")


def _score(ours: GtpEngine, theirs: GtpEngine, passes: int, errors: list[str]) -> None:
    """Compare the scores by area where GNU Go finds no dead stones, which only it removes."""
    if passes < 2:
        return
    score = ours.ask("final_score")
    everything = " ".join(ours.ask("final_status_list alive").split())
    if set(everything.split()) != _stones(ours, "black") | _stones(ours, "white"):
        errors.append(f"final_status_list alive: {everything}")
    if not theirs.ask("final_status_list dead").split() and not theirs.ask("final_status_list seki").split():
        mark = theirs.ask("final_score")
        if float(mark[2:]) != float(score[2:]) or mark[0] != score[0]:
            errors.append(f"the score is {score}, not {mark}:\n{ours.ask('showboard')}")


def _analyse(engine: GtpEngine, command: str, colour: str, errors: list[str]) -> None:
    """Run an analysis until its first report, and end it by the next command."""
    engine.process.send(f"{command} {colour} 5")
    for line in engine.process.lines(_DEADLINE, "report"):
        if line.startswith("?"):
            errors.append(f"{command}: {line}")
        if line.startswith(("info move ", "?")):
            break
    if engine.ask("protocol_version") != "2":
        # The rest of the analysis, a blank line, comes before the answer.
        errors.append("an analysis has not ended")


# xboard and its adapters.


def xboard_games(report: Report, games: int, folder: Path) -> None:
    """Let xboard play matches through polyglot and uci2wb; it checks the moves of chess, xiangqi and shogi itself."""
    scripts = {}
    for name, command in (
        ("chess", "uci --game chess"), ("xiangqi", "uci --game xiangqi --protocol ucci"), ("shogi", "usi --game shogi"),
    ):  # fmt: skip
        scripts[name] = folder / f"{name}.sh"
        log = folder / f"{name}.$$.log"
        scripts[name].write_text(f'#!/bin/sh\nexec "{sys.executable}" -m treetop {command} --log {log}\n')
        scripts[name].chmod(0o755)
    settings = folder / "polyglot.ini"
    settings.write_text(
        f"[PolyGlot]\nEngineDir = {folder}\nEngineCommand = {scripts['chess']}\nBook = false\n[Engine]\n"
    )
    for client, variant, first, second in (
        ("xboard, polyglot", "normal", f"polyglot {settings}", "fairymax"),
        ("xboard, uci2wb -c", "normal", f"uci2wb -c {scripts['chess']}", "fairymax"),
        ("xboard, uci2wb -x (UCCI)", "xiangqi", f"uci2wb -x {scripts['xiangqi']}", "hoixiangqi"),
        ("xboard, uci2wb -s (USI)", "shogi", f"uci2wb -s {scripts['shogi']}", f"uci2wb -s {scripts['shogi']}"),
    ):
        try:
            programs = [find_program(name) for name in ("xboard", first.split()[0], second.split()[0], "xvfb-run")]
        except PlayerError as error:
            print(f"{client} is left out: {error}", file=sys.stderr)
            continue
        first = " ".join([programs[1], *first.split()[1:]])
        second = " ".join([programs[2], *second.split()[1:]])
        moves, errors = _match(folder, programs[0], variant, first, second, games)
        opponent = Path(programs[2]).name if "xboard, uci2wb -s" not in client else "itself"
        report.add(client, f"{variant} against {opponent}, {games} games", moves, errors)


def _match(folder: Path, xboard: str, variant: str, first: str, second: str, games: int) -> tuple[int, list[str]]:
    """Play a match; return the moves and the errors that xboard or the engine has noted."""
    for log in folder.glob("*.log"):
        log.unlink()
    debug = folder / "xboard.debug"
    command = [
        "xvfb-run", "-a", xboard, "-variant", variant, "-fcp", first, "-scp", second, "-mg", str(games), "-tc", "0:20",
        "-inc", "0", "-debug", "-nameOfDebugFile", str(debug), "-noGUI", "-popupExitMessage", "false",
    ]  # fmt: skip
    debug.write_text("")
    with _running(command, folder) as process:
        end = time.monotonic() + _MATCH_SECONDS
        while time.monotonic() < end and process.poll() is None and "final score" not in _read(folder / "out"):
            time.sleep(1.0)
    said, errors = _read(folder / "out"), list[str]()
    if "final score" not in said:
        errors.append(f"the match has not ended: {said[-300:]}")
    for line in [*said.splitlines(), *_read(debug).splitlines()]:
        if any(word in line for word in ("llegal move from", "forfeits", "time forfeit", "exited unexpectedly")):
            errors.append(line)
    moves = 0
    for log in folder.glob("*.log"):
        lines = _read(log).splitlines()
        moves += sum(line.startswith("< bestmove") for line in lines)
        errors += [line for line in lines if "error:" in line]
    return moves, errors


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


@contextmanager
def _running(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a group of its own; in the end the whole group ends."""
    path = os.pathsep.join([os.environ["PATH"], "/usr/games"])
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PATH": path},
        )  # fmt: skip
        try:
            yield process
        finally:
            for number in (15, 9):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                time.sleep(1.0)
            process.wait()


# Texts, by a client of our own.


def text_games(report: Report, games: int, seed: int) -> None:
    """Play whole games by the texts of USI and UCCI, judged by our rules: against itself, and against random moves."""
    for command, dialect, name in (
        ("usi --game shogi", "usi", "shogi"), ("usi --game minishogi", "usi", "minishogi"),
        ("uci --game xiangqi --protocol ucci", "ucci", "xiangqi"),
    ):  # fmt: skip
        process = LineProcess([*ENGINE, *command.split()])
        try:
            _ask(process, dialect, f"{dialect}ok")
            if dialect == "ucci":
                process.send("setoption usemillisec true")
            for number in range(games):
                errors = list[str]()
                moves = _text_game(process, dialect, name, random.Random(f"{seed}/{number}"), errors, alone=number % 2)
                report.add(f"texts of {dialect.upper()}", name, moves, errors)
        except PlayerError as error:
            report.add(f"texts of {dialect.upper()}", name, 0, [str(error)])
        finally:
            process.close("quit")


def _ask(process: LineProcess, command: str, answer: str) -> list[str]:
    process.send(command)
    found = []
    for line in process.lines(_DEADLINE, answer):
        found.append(line)
        if line.split()[:1] == [answer]:
            return found
    return found


def _text_game(
    process: LineProcess, dialect: str, name: str, rng: random.Random, errors: list[str], *, alone: int
) -> int:
    from treetop.serve.protocols.dialects import DIALECTS

    texts, position, moves = DIALECTS[dialect], tt.position(name), 0
    process.send("usinewgame" if dialect == "usi" else "setoption newgame")
    _ask(process, "isready", "readyok")
    while not position.is_terminal and moves < _LONGEST:
        if not alone and position.player == 1:
            position = position.play([rng.choice(position.legal_moves())])
            continue
        played = " ".join(texts.theirs(move) for move in position.moves())
        process.send("position startpos" + (f" moves {played}" if played else ""))
        clock = rng.choice(("nodes 100", "btime 5000 wtime 5000 byoyomi 100", "depth 2"))
        lines = _ask(process, f"go {clock if dialect == 'usi' else 'time 3000 increment 50'}", "bestmove")
        errors += [line for line in lines if "error" in line]
        try:
            position = position.play([texts.own(lines[-1].split()[1])])
        except TreetopError as error:
            errors.append(str(error))
            return moves
        moves += 1
    return moves


def main() -> int:
    """Play, and print what was played, and all errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=50, help="games of chess and of go (50); a tenth of the others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("chess", "go", "xboard", "texts"))
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    root = str(Path(__file__).resolve().parents[1])
    os.environ["TREETOP_QUIET"] = "1"  # a client may take what is on stderr for an error
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    report, few = Report(), max(1, options.games // 10)
    with tempfile.TemporaryDirectory() as place:
        parts: dict[str, Callable[[], None]] = {
            "chess": lambda: chess_games(report, options.games, options.seed),
            "go": lambda: go_games(report, options.games, options.seed),
            "texts": lambda: text_games(report, few, options.seed),
            "xboard": lambda: xboard_games(report, min(2, few), Path(place)),
        }
        needs = {"go": "gnugo", "xboard": "xboard"}
        for name, play in parts.items():
            if options.only not in (None, name):
                continue
            if name in needs and not shutil.which(needs[name], path=os.environ["PATH"] + ":/usr/games"):
                print(f"{name} is left out: apt-get install {needs[name]}", file=sys.stderr)
                continue
            play()
    print(json.dumps({", ".join(key): row for key, row in report.rows.items()}) if options.json else report.table())
    return 1 if report.errors else 0


if __name__ == "__main__":
    raise SystemExit(main())
