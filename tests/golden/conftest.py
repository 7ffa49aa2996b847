"""Golden files: a text is compared with a recorded one, or recorded with `--rewrite-golden`."""

from __future__ import annotations

import pytest


@pytest.fixture
def golden(request):
    """Compare a text with the file, or write the file if pytest runs with `--rewrite-golden`."""

    def compare(file, text):
        if request.config.getoption("--rewrite-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        assert text == file.read_text(), f"{file.name} differs: if that is intended, run pytest with --rewrite-golden"

    return compare
