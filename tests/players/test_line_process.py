"""A program at the other end of a pipe: every wait ends, and so does every process."""

from __future__ import annotations

import gc
import os
import shlex
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import pytest

import treetop
from treetop.players.line_process import LineProcess, find_program, split_command

ECHO = """
    import sys
    for line in sys.stdin:
        print("got", line.strip(), flush=True)
        if line.strip() == "quit":
            break
"""


def start(command):
    return LineProcess(split_command(command))


def read_one(process, seconds=20.0):
    return next(process.lines(seconds, "answer"))


def test_lines_go_both_ways(script, gone):
    process = start(script(ECHO))
    process.send("one")
    process.send("two")
    assert [read_one(process), read_one(process)] == ["got one", "got two"]
    process.close("quit")
    assert gone(process.pid)
    process.close("quit")
    with pytest.raises(treetop.errors.PlayerError, match="ended already"):
        process.send("three")


def test_silence_ends_with_its_deadline(script, gone):
    process = start(script("import time; time.sleep(60)"))
    began = time.monotonic()
    process.send("hello")
    with pytest.raises(treetop.errors.PlayerError) as reported:
        read_one(process, 0.3)
    assert 0.3 <= time.monotonic() - began < 10.0
    assert "gave no answer within 0.3 s" in str(reported.value)
    assert "sent: hello" in str(reported.value)
    assert "received: nothing" in str(reported.value)
    assert gone(process.pid)


def test_the_end_of_a_program_is_reported_with_its_exit_code_and_stderr(script, gone):
    process = start(script("import sys; print('last words'); print('the reason', file=sys.stderr); sys.exit(3)"))
    assert read_one(process) == "last words"
    with pytest.raises(treetop.errors.PlayerError) as reported:
        read_one(process)
    for text in ("ended (exit code 3) and gave no answer", "last words", "on stderr: the reason"):
        assert text in str(reported.value)
    assert gone(process.pid)


def test_a_program_that_was_killed_is_reported_as_such(script):
    process = start(script("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    with pytest.raises(treetop.errors.PlayerError, match="killed by SIGSEGV"):
        read_one(process)


def test_lines_that_came_before_the_end_are_still_read(script):
    process = start(script("print('a'); print('b'); print('c')"))
    time.sleep(0.3)
    assert [read_one(process) for _ in range(3)] == ["a", "b", "c"]
    process.close()


def test_a_flood_without_an_end_of_line_is_cut_off(script, gone):
    process = start(script("import os\nwhile True: os.write(1, b'x' * 65536)"))
    began = time.monotonic()
    with pytest.raises(treetop.errors.PlayerError, match="without an end of line") as reported:
        read_one(process, 20.0)
    assert time.monotonic() - began < 10.0
    assert len(str(reported.value)) < 5000
    assert gone(process.pid)


def test_a_flood_of_lines_ends_with_the_deadline(script, gone):
    process = start(script("import os\nwhile True: os.write(1, b'info string nothing\\n' * 3000)"))
    assert read_one(process) == "info string nothing"
    began = time.monotonic()
    with pytest.raises(treetop.errors.PlayerError, match="wrote lines for 0.4 s and gave no move"):
        deque(process.lines(0.4, "move"), maxlen=0)
    assert time.monotonic() - began < 10.0
    assert gone(process.pid)


def test_a_flood_on_stderr_holds_nobody_up(script):
    process = start(script("import sys\nsys.stderr.write('e' * 1000000)\nprint('done', flush=True)\nsys.stdin.read()"))
    assert read_one(process) == "done"
    process.close()


def test_a_program_that_does_not_listen_does_not_block_us(script, gone):
    process = start(script("import time; time.sleep(60)"))
    began = time.monotonic()
    for _ in range(40):
        process.send("x" * 100_000)
    with pytest.raises(treetop.errors.PlayerError, match="gave no answer"):
        read_one(process, 0.3)
    assert time.monotonic() - began < 10.0
    assert gone(process.pid)


def test_long_messages_arrive_whole(script):
    process = start(script("import sys\nfor line in sys.stdin: print(len(line), flush=True)"))
    process.send("x" * 1_000_000)
    assert read_one(process) == "1000001"
    process.close()


def test_a_program_that_ignores_every_request_is_killed(script, gone):
    process = start(
        script(
            "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(60)"
        )
    )
    assert read_one(process) == "up"
    began = time.monotonic()
    process.close("quit")
    assert time.monotonic() - began < 10.0
    assert gone(process.pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_what_a_program_has_started_ends_with_it(script):
    process = start(
        script("""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
        print(child.pid, flush=True)
        sys.stdin.readline()
    """)
    )
    child = int(read_one(process))
    assert _runs(child)
    process.close("quit")
    until = time.monotonic() + 5.0
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _runs(child)


def _runs(pid):
    """Whether a process is there, and not merely waiting for the system to reap it."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_process_that_nobody_holds_any_more_is_ended(script, gone):
    process = start(script("import time; time.sleep(60)"))
    group = process.pid
    del process
    gc.collect()
    assert gone(group)


def test_processes_end_with_the_interpreter(script, gone):
    engine = script("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)")
    code = (
        "from treetop.players.line_process import LineProcess\n"
        f"held = LineProcess({shlex.split(engine)!r})\n"
        "print(held.pid, flush=True)\nraise SystemExit(5)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    assert ran.returncode == 5, ran.stderr
    assert gone(int(ran.stdout))


def test_a_forked_child_leaves_its_parents_engine_alone(script):
    process = start(script(ECHO))
    child = os.fork()
    if child == 0:
        process.close()
        os._exit(0)
    os.waitpid(child, 0)
    process.send("still here")
    assert read_one(process) == "got still here"
    process.close("quit")


def test_a_program_that_is_not_there_is_reported_with_its_package(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("treetop.players.line_process._GAMES_FOLDERS", ())
    with pytest.raises(treetop.errors.PlayerError, match="'gnugo' is not installed: apt-get install gnugo"):
        find_program("gnugo")
    with pytest.raises(treetop.errors.PlayerError, match="apt-get install fairymax"):
        find_program("maxqi")
    with pytest.raises(treetop.errors.PlayerError, match="full path"):
        find_program("no-such-engine")


def test_a_command_that_cannot_be_read_is_refused():
    for command in ("", "'unclosed", 3, None):
        with pytest.raises(treetop.errors.ConfigError, match="command"):
            split_command(command)


def test_a_command_is_one_line(script):
    process = start(script(ECHO))
    with pytest.raises(treetop.errors.ConfigError, match="one line"):
        process.send("a\nb")
    process.close("quit")
