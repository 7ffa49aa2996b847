"""A child program gets bytes and gives bytes, and nothing of it is left after `close`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treetop.programs import Program, ProgramEnded


def start(code, **options):
    return Program([sys.executable, "-I", "-S", "-c", code], **options)


def receive_all(program, seconds=20.0):
    """Return all output until the program ends, and how it ended."""
    deadline, output = time.monotonic() + seconds, b""
    while time.monotonic() < deadline:
        try:
            output += program.receive(deadline - time.monotonic())
        except ProgramEnded as ended:
            return output, str(ended)
    raise AssertionError("it did not end")


def test_output_of_any_size_arrives_before_the_end_is_reported():
    program = start("import os\nfor _ in range(50): os.write(1, b'x' * 65536)\nraise SystemExit(3)")
    output, ended = receive_all(program)
    assert output == b"x" * 50 * 65536
    assert ended == "ended (exit code 3)"
    program.close()


def test_a_program_without_patience_is_killed_at_once_and_one_with_patience_may_finish():
    code = "import sys, time\nprint(sys.stdin.readline(), end='', flush=True)\ntime.sleep(60)"
    program = start(code)
    began = time.monotonic()
    program.close(b"now\n")
    assert time.monotonic() - began < 5.0
    assert not program.alive
    patient = start("import sys\nprint('bye', sys.stdin.readline(), end='')", patience=10.0)
    patient.close(b"now\n")
    assert patient.take() == b"bye now\n"


def test_it_runs_in_its_folder_after_its_preparation(tmp_path):
    def prepare():
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.umask(0o077)

    program = start("import os; print(os.getcwd(), oct(os.umask(0)))", folder=tmp_path, prepare=prepare)
    output, _ = receive_all(program)
    assert output.decode().split() == [str(tmp_path.resolve()), "0o77"]
    program.close()


def test_an_interrupt_reaches_the_program():
    program = start(
        "import time\ntry:\n    print('up', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt: print('stopped')"
    )
    deadline = time.monotonic() + 20.0
    while not program.receive(1.0) and time.monotonic() < deadline:
        pass
    program.interrupt()
    assert receive_all(program)[0] == b"stopped\n"
    program.close()
    program.interrupt()


@pytest.mark.parametrize("prepare", [None, lambda: signal.pthread_sigmask(signal.SIG_SETMASK, ())])
def test_an_interrupt_reaches_the_program_of_a_process_that_ignores_it(prepare):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a background job of a shell
    try:
        program = Program(["/bin/sleep", "60"], prepare=prepare)
    finally:
        signal.signal(signal.SIGINT, before)
    program.interrupt()
    assert receive_all(program) == (b"", "ended (killed by SIGINT)")
    program.close()


def test_a_program_that_cannot_be_started_raises_what_python_raises(tmp_path):
    with pytest.raises((OSError, subprocess.SubprocessError)):
        Program([str(tmp_path / "nothing")])


def test_the_end_of_stderr_is_kept():
    program = start("import sys; sys.stderr.write('e' * 100_000 + 'last'); print('done')")
    receive_all(program)
    program.close()
    assert program.stderr.endswith("elast")
    assert len(program.stderr) <= 2000


def test_these_tests_handle_ctrl_c_by_default_in_a_background_job_too():
    code = (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nimport tests.conftest\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], check=True)
