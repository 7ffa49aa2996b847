"""Fuzz `treetop uci`, `usi`, `uci --protocol ucci` and `gtp`: random, changed, hostile and interleaved lines.

`python fuzz/protocols.py --lines 10000` sends so many to each protocol; `--quick` uses a game that compiles quickly.

Each protocol is a process that gets many lines without waiting for answers. A failure is a traceback, an end that was
not asked for, a question that is not answered within a deadline, code of ours that was run, memory that grows, or a
process that is left or ends with an unexpected exit code, after `quit`, at the end of the input, by SIGTERM, or where
nobody reads its output any more.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.mutate import VALUES, WORDS, mutate_bytes
from treetop.programs import Program, ProgramEnded

_DEADLINE, _COMPILING = 180.0, 600.0  # seconds of CPU for an answer, which may compile variants, and for the first one
_ASLEEP, _END = 60.0, 60.0  # seconds without any work before an answer, and before the end
_MOST_MEMORY = 2500.0  # MB
_SESSION, _BATCH = 1000, 50  # lines of a process, and lines between two questions
_CANARY = "canary"
ENDS = ("quit", "end of input", "SIGTERM", "quit in a search", "end of input in a search", "unread output")


@dataclass(frozen=True)
class Talk:
    """A protocol: how it is started, what real programs send, and words of which lines are made."""

    name: str
    command: tuple[str, ...]
    quick: tuple[str, ...]
    real: tuple[str, ...]
    words: tuple[str, ...]
    search: str
    """A command that searches until it is stopped."""

    def question(self, number: int) -> tuple[bytes, bytes, bytes]:
        """Return a question, its answer, and the line at which the answer must have come."""
        if self.name == "gtp":
            answer = f"={10_000_000 + number} 2\n".encode()
            return f"{10_000_000 + number} protocol_version\n".encode(), answer, answer
        return f"isready\nask{number}\n".encode(), b"readyok\n", f"'ask{number}'".encode()


_UCI_WORDS = (
    "uci", "usi", "ucci", "isready", "setoption", "name", "value", "position", "startpos", "fen", "sfen", "moves", "go",
    "stop", "ponderhit", "ponder", "infinite", "nodes", "movetime", "wtime", "btime", "winc", "binc", "byoyomi",
    "depth", "mate", "searchmoves", "movestogo", "time", "increment", "draw", "perft", "d", "ucinewgame", "gameover",
    "register", "debug", "banmoves", "MultiPV", "Hash", "Threads", "Rule", "Model", "Seed", "UCI_Variant", "Ponder",
    "UCI_Chess960", "Move", "Overhead", "0", "1", "2", "3", "-5", "100", "9" * 30, "9" * 5000, "b2b3", "d2d3", "7g7f",
    "8/8/8/8/8/8/8/8", "w", "-", "true", "false", "uct(c=1.0)", "puct(evaluator='" + "(" * 200 + "')", "nim",
    "evil:Evil", "evil.py:Evil", "os:system", "../../etc/passwd", "/dev/zero", "/proc/self/mem", "<empty>",
    "tic_tac_toe", "connect_four",
)  # fmt: skip
_UCI_REAL = (
    "position startpos", "position startpos moves d2d3", "go nodes 50", "go movetime 5", "go infinite", "stop",
    "go ponder wtime 100 btime 100", "ponderhit", "go wtime 100 btime 100 winc 0 binc 0 movestogo 1", "isready",
    "go nodes 10 searchmoves d2d3 c2c3", "setoption name MultiPV value 3", "setoption name Hash value 1",
    "setoption name Rule value uct(c=0.7,solver=True)", "setoption name Rule value recommended", "ucinewgame", "d",
    "setoption name UCI_Variant value tic_tac_toe", "setoption name UCI_Variant value breakthrough(size=5)",
    "setoption name UCI_Variant value evil.py:Evil", "setoption name Model value .", "setoption name Model value evil",
    "go depth 2", "go perft 2", "go mate 2", "uci", "position startpos moves " + "d2d3 " * 3000, "gameover win",
    "setoption name Threads value 2", "setoption name Threads value 1", "setoption name Seed value 7",
)  # fmt: skip
_SEARCH_OF_UCI = "stop\nsetoption name Hash value 16\nposition startpos\ngo infinite\n"
_GTP_REAL = (
    "boardsize 5", "boardsize 7", "clear_board", "komi 7.5", "komi 2", "play b C3", "play w D4", "play b pass",
    "genmove w", "1 genmove b", "reg_genmove w", "undo", "showboard", "final_score", "final_status_list alive",
    "time_settings 1 0 0", "time_left b 1 0", "time_left w 0 1", "kgs-time_settings byoyomi 1 1 5", "list_stones b",
    "kgs-time_settings none", "lz-analyze b 5", "kata-analyze 10", "kata-analyze w interval 1 minmoves 3",
    "lz-genmove_analyze b 5", "fixed_handicap 2", "place_free_handicap 5", "set_free_handicap C3 D2", "list_commands",
    "known_command play", "name # a comment", "12 version", "cputime",
)  # fmt: skip
_GTP_WORDS = (
    *{word for line in _GTP_REAL for word in line.split()}, "I5", "A0", "Z99", "j1", "black", "resign", "-1", "1e9",
    "9" * 50, "9" * 5000, "nan", "inf", "7.", "\t", "#", "quit_", "evil", "loadsgf", "evil.py", "/dev/zero",
)  # fmt: skip
TALKS = (
    Talk("uci", ("uci", "--game", "breakthrough(size=5)"), (), _UCI_REAL, _UCI_WORDS, _SEARCH_OF_UCI),
    Talk("usi", ("usi", "--game", "minishogi"), ("usi", "--game", "breakthrough(size=5)"), _UCI_REAL, _UCI_WORDS,
         _SEARCH_OF_UCI),
    Talk("ucci", ("uci", "--protocol", "ucci", "--game", "xiangqi"),
         ("uci", "--protocol", "ucci", "--game", "breakthrough(size=5)"), _UCI_REAL, _UCI_WORDS, _SEARCH_OF_UCI),
    Talk("gtp", ("gtp", "--game", "go(size=5)", "--simulations", "20", "--seconds", "0.2"),
         ("gtp", "--game", "othello(size=6)", "--simulations", "20", "--seconds", "0.2"), _GTP_REAL, _GTP_WORDS,
         "clear_board\nkata-analyze b 1\n"),
)  # fmt: skip


def line_of(talk: Talk, rng: random.Random) -> bytes:
    """Return a line, with its end."""
    kind = rng.random()
    if kind < 0.4:
        line = rng.choice(talk.real).encode()
    elif kind < 0.7:
        line = " ".join(rng.choices(talk.words, k=rng.choice((1, 2, 3, 4, 6, 12)))).encode()
    elif kind < 0.9:
        line = mutate_bytes(rng, rng.choice(talk.real).encode())
    elif kind < 0.94:
        pieces = [rng.choice((*WORDS, *talk.words, *map(str, VALUES))) for _ in range(rng.choice((1, 5, 20)))]
        line = " ".join(pieces).encode("utf-8", "replace")
    elif kind < 0.98:
        line = rng.randbytes(rng.choice((1, 10, 100, 3000)))
    else:
        piece = rng.choice((b"x", b"(", b"[[", b"9", b" ", b"\x00", b"\xff", b"d2d3 "))
        line = rng.choice(talk.real).encode() + b" " + piece * rng.choice((10_000, 200_000, 2_000_000))
    if talk.name == "usi":
        line = line.replace(b" fen ", b" sfen ")
    if talk.name == "ucci":
        line = line.replace(b"d2d3", b"d1d2")
    return line + rng.choice((b"\n", b"\n", b"\n", b"\r\n", b"\n\n"))


class Session:
    """A process, and what it has said since the last question."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.program = Program(command, folder=folder, patience=_END)
        self.said = b""
        self.memory = 0.0

    def ask(self, talk: Talk, number: int, seconds: float = _DEADLINE) -> str | None:
        """Ask a question; return what was wrong, if anything. An ended process raises ProgramEnded."""
        question, answer, last = talk.question(number)
        self.program.send(question)
        begin = used = cpu_of(self.program.pid)
        since = time.monotonic()
        while last not in self.said:
            now = cpu_of(self.program.pid)
            if now > used + 0.05:
                used, since = now, time.monotonic()
            if used - begin > seconds or time.monotonic() > since + _ASLEEP:
                os.kill(self.program.pid, signal.SIGABRT)  # it shows where it is
                time.sleep(1.0)
                with suppress(ProgramEnded):
                    self.program.receive(1.0)
                where = self.program.stderr
                said = f"it said {self.said[-300:]!r}"
                return f"no answer to {question!r} after {used - begin:.0f} s of CPU; {said}\n{where}"
            self.said = self.said[-1_000_000:] + self.program.receive(1.0)
        found, self.said = answer in self.said, b""
        self.memory = max(self.memory, memory_of(self.program.pid))
        return None if found else f"{question!r} was not answered by {answer!r}"


def cpu_of(pid: int) -> float:
    """Return the CPU time of a process, in seconds, which says more than a clock on a busy machine; 0 if unknown."""
    path = Path(f"/proc/{pid}/stat")
    fields = path.read_text().rpartition(")")[2].split() if path.exists() else []
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def memory_of(pid: int) -> float:
    """Return the memory of a process, in MB; 0 where that is not known."""
    path = Path(f"/proc/{pid}/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def run(talk: Talk, options: argparse.Namespace, session: int, lines: int, folder: Path) -> tuple[list[str], float]:
    """Send lines to one process, and end it; return the failures and the memory."""
    rng = random.Random(f"{options.seed}/{talk.name}/{session}")
    command = [
        sys.executable,
        "-X",
        "faulthandler",
        "-m",
        "treetop",
        *(talk.quick if options.quick and talk.quick else talk.command),
    ]
    started, failures, sent = Session(command, folder), list[str](), 0
    number, batch, everything = 0, b"", b""
    try:
        # The real lines first, which compile what they need.
        started.program.send("\n".join([*talk.real, "stop", "undo", ""]).encode())
        if wrong := started.ask(talk, number, _COMPILING):
            failures.append(wrong)
        while sent < lines and not failures:
            count = min(lines - sent, _BATCH if talk.name == "gtp" or rng.random() < 0.9 else 4 * _BATCH)
            batch = b"".join(line_of(talk, rng) for _ in range(count))
            sent, number = sent + count, number + 1
            everything += batch
            started.program.send(batch)
            # A search, or an analysis, may run.
            if wrong := started.ask(talk, number):
                failures.append(wrong)
        how = ENDS[session % len(ENDS)]
        failures += [f"{how}: {wrong}" for wrong in end(talk, started, how)] if not failures else []
    except ProgramEnded as ended:
        if b"quit" not in batch:
            failures.append(f"the process {ended}")
    started.program.close()
    said = started.program.stderr
    if "Traceback" in said or "Exception" in said:
        failures.append(said)
    if (folder / _CANARY).exists():
        failures.append("code was run")
    if started.memory > _MOST_MEMORY:
        failures.append(f"the process used {started.memory:.0f} MB")
    if failures and options.keep:
        Path(options.keep).write_bytes(everything)
    return [f"{talk.name}, session {session}: {failure}" for failure in failures], started.memory


def end(talk: Talk, session: Session, how: str) -> list[str]:
    """End a process in some way; return what was wrong."""
    process = session.program._process
    assert process.stdin is not None
    assert process.stdout is not None
    if how.endswith("in a search") or how == "unread output":
        session.program.send(talk.search.encode())
        time.sleep(0.3)
    if how.startswith("quit"):
        session.program.send(b"quit\n")
    elif how == "SIGTERM":
        process.send_signal(signal.SIGTERM)
    elif how == "unread output":
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, process.stdout.fileno())  # closes the pipe and keeps the number
        os.close(nowhere)
    else:
        process.stdin.close()
    deadline = time.monotonic() + _END
    while process.poll() is None and time.monotonic() < deadline:
        if how != "unread output":
            try:
                session.program.receive(0.1)
            except (ProgramEnded, ValueError):
                time.sleep(0.05)
        else:
            time.sleep(0.05)
    wanted = 1 if how in ("SIGTERM", "unread output") else 0
    wrong = []
    if process.poll() is None:
        wrong.append(f"the process has not ended within {_END:g} s")
    elif process.returncode != wanted:
        wrong.append(f"the exit code is {process.returncode}, not {wanted}")
    try:
        os.killpg(process.pid, 0)
        if process.poll() is not None:
            wrong.append("a process is left")
    except ProcessLookupError:
        pass
    return wrong


def main() -> int:
    """Fuzz all protocols, or one, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000, help="lines for each protocol (10,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[talk.name for talk in TALKS], help="one protocol")
    parser.add_argument("--first", type=int, default=0, metavar="SESSION", help="number of the first session")
    parser.add_argument("--quick", action="store_true", help="games that compile quickly")
    parser.add_argument("--keep", metavar="FILE", help="where the lines of a session that failed are written")
    options = parser.parse_args()
    root = str(Path(__file__).resolve().parents[1])
    os.environ |= {"TREETOP_TIER": "indirect", "TREETOP_QUIET": "1"}
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    failures = []
    print(f"{'protocol':12}{'lines':>10}{'sessions':>10}{'failures':>10}{'MB':>8}{'s':>8}")
    for place, talk in enumerate(TALKS):
        if options.only not in (None, talk.name):
            continue
        begin, found, most, sessions = time.monotonic(), list[str](), 0.0, -(-options.lines // _SESSION)
        for number in range(options.first, options.first + sessions):
            lines = min(_SESSION, options.lines - (number - options.first) * _SESSION)
            with tempfile.TemporaryDirectory() as folder:
                evil = f"open({str(Path(folder) / _CANARY)!r}, 'w')\n"
                (Path(folder) / "evil.py").write_text(evil)
                # Short runs end each protocol in another way.
                wrong, memory = run(talk, options, number + (place if sessions == 1 else 0), lines, Path(folder))
            found += wrong
            most = max(most, memory)
            for failure in wrong:
                print(failure, file=sys.stderr, flush=True)
        took = time.monotonic() - begin
        print(f"{talk.name:12}{options.lines:>10,}{sessions:>10}{len(found):>10}{most:>8.0f}{took:>8.0f}", flush=True)
        failures += found
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
