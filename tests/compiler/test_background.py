"""Compiling in the background: the program is never disturbed by it, and everything is compiled once."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from treetop.compiler import background
from treetop.compiler.background import BackgroundCompiler

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code is compiled in the background on Linux only")


class Code:
    """Stands for code to compile: it writes what it finds in its process to a file."""

    def __init__(self, file: Path, seconds: float = 0.0) -> None:
        self.file, self.seconds = file, seconds
        self.elsewhere = False

    def is_being_compiled(self) -> bool:
        return self.elsewhere

    def prepare(self) -> None:
        facts = (os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), os.nice(0))
        with self.file.open("a") as file:
            file.write(" ".join(map(str, facts)) + "\n")
        time.sleep(self.seconds)
        with self.file.open("a") as file:
            file.write("end\n")


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def finish(*codes):
    for code in codes:
        wait_for(lambda code=code: BackgroundCompiler.is_done(code))


def kill(code):
    os.kill(started(code)[0], signal.SIGKILL)
    finish(code)


def started(code):
    """Wait until code is being prepared, and return the facts of the process."""
    wait_for(code.file.exists)
    wait_for(lambda: code.file.read_text().count("\n"))
    return [int(word) for word in code.file.read_text().splitlines()[0].split()]


def test_it_is_no_child_of_the_program_and_gives_way_to_it(tmp_path):
    code = Code(tmp_path / "code")
    assert BackgroundCompiler.start(code)
    finish(code)
    pid, parent, group, session, niceness = started(code)
    assert parent != os.getpid()
    assert group == pid
    assert session == os.getsid(0)  # niceness counts only within a session
    assert niceness >= 5


def test_it_holds_no_socket_of_the_program(tmp_path):
    server = socket.create_server(("127.0.0.1", 0))
    address = server.getsockname()
    code = Code(tmp_path / "code", seconds=60)
    BackgroundCompiler.start(code)
    started(code)
    server.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=1)
    kill(code)


def test_it_holds_no_pipe_of_the_program(tmp_path):
    reader, writer = os.pipe()
    code = Code(tmp_path / "code", seconds=60)
    BackgroundCompiler.start(code)
    started(code)
    os.close(writer)
    assert os.read(reader, 1) == b""  # the end of the file
    assert not BackgroundCompiler.is_done(code)
    os.close(reader)
    kill(code)


def test_a_file_with_text_in_its_buffer_is_written_once(tmp_path):
    with (tmp_path / "log").open("w") as log:
        log.write("a line\n")
        code = Code(tmp_path / "code")
        BackgroundCompiler.start(code)
        finish(code)
    assert (tmp_path / "log").read_text() == "a line\n"
    assert code.file.read_text().endswith("end\n")


def test_ctrl_c_does_not_end_it_and_no_handler_of_the_program_runs_in_it(tmp_path):
    before = signal.signal(signal.SIGTERM, lambda *_: (tmp_path / "handled").touch())
    try:
        calm, ended = Code(tmp_path / "calm", seconds=1), Code(tmp_path / "ended", seconds=60)
        BackgroundCompiler.start(calm)
        os.kill(started(calm)[0], signal.SIGINT)
        finish(calm)
        BackgroundCompiler.start(ended)
        os.kill(started(ended)[0], signal.SIGTERM)
        finish(ended)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert calm.file.read_text().endswith("end\n")
    assert not ended.file.read_text().endswith("end\n")
    assert not (tmp_path / "handled").exists()


def test_the_signals_of_the_program_are_as_before(tmp_path):
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        code = Code(tmp_path / "code")
        BackgroundCompiler.start(code)
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before | {signal.SIGUSR1}
        finish(code)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_code_that_fails_is_done(tmp_path):
    code = Code(tmp_path / "no folder" / "code")
    assert BackgroundCompiler.start(code)
    finish(code)


def test_a_process_that_hangs_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(background, "_LONGEST", 1)
    code = Code(tmp_path / "code", seconds=600)
    BackgroundCompiler.start(code)
    finish(code)


def test_where_no_process_can_be_started_nothing_happens(tmp_path, monkeypatch):
    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    files = len(list(Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr(os, "fork", refuse)
    code = Code(tmp_path / "code")
    BackgroundCompiler.start(code)
    assert BackgroundCompiler.is_done(code)
    assert not code.file.exists()
    assert len(list(Path("/proc/self/fd").iterdir())) == files


def test_code_that_another_process_compiles_is_left_to_it(tmp_path):
    code, other = Code(tmp_path / "code"), Code(tmp_path / "other")
    code.elsewhere = True
    BackgroundCompiler.start(code)
    BackgroundCompiler.start(other)
    finish(other)
    assert not BackgroundCompiler.is_done(code)
    assert not code.file.exists()
    code.elsewhere = False  # that process has ended
    finish(code)
    assert code.file.exists()


def test_a_thread_that_compiles_does_not_stop_others_that_ask(tmp_path):
    from numba.core.compiler_lock import global_compiler_lock

    holding, release = threading.Event(), threading.Event()

    def compile_something():
        with global_compiler_lock:
            holding.set()
            release.wait(60)

    thread = threading.Thread(target=compile_something)
    thread.start()
    holding.wait(60)
    code = Code(tmp_path / "code")
    BackgroundCompiler.start(code)  # returns at once
    assert not BackgroundCompiler.is_done(code)
    assert not code.file.exists()
    release.set()
    thread.join()
    finish(code)
    assert code.file.exists()


def test_threads_compile_each_code_once(tmp_path):
    codes = [Code(tmp_path / str(number)) for number in range(12)]

    def work(mine):
        for code in mine:
            BackgroundCompiler.start(code)
        finish(*mine)

    threads = [threading.Thread(target=work, args=(codes[first::4],)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [code.file.read_text().count("end\n") for code in codes] == [1] * len(codes)


def test_a_forked_program_sees_the_end_of_what_was_started_before(tmp_path):
    code = Code(tmp_path / "code", seconds=60)
    BackgroundCompiler.start(code)
    process = started(code)[0]
    child = os.fork()
    if child == 0:
        too_early = BackgroundCompiler.is_done(code)
        os.kill(process, signal.SIGKILL)
        while not BackgroundCompiler.is_done(code):
            time.sleep(0.01)
        os._exit(int(too_early))
    assert os.waitpid(child, 0)[1] == 0
    finish(code)
