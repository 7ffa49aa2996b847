"""A small run of the fuzzer of the server; `make fuzz` is the long one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")

FUZZER = Path(__file__).resolve().parents[2] / "fuzz" / "server.py"


@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None, reason="needs schemathesis: pip install schemathesis"
)
def test_no_request_makes_the_server_fail_grow_or_answer_a_stranger():
    ran = subprocess.run(
        [sys.executable, str(FUZZER), "--quick", "--requests", "90", "--seed", "3"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
