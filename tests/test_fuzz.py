"""A small run of the fuzzer; `make fuzz` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def test_hostile_texts_and_files_run_nothing_and_crash_nothing():
    ran = subprocess.run(
        [sys.executable, str(REPOSITORY / "fuzz" / "run.py"), "--quick", "--inputs", "450", "--seed", "7"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].split()[-1] == "0"
