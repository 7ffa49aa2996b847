"""The picture of a training run on a terminal, and its lines elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")
pytest.importorskip("choix", reason="needs choix: pip install -e '.[arena]'")

from treetop.cli.train_display import Dashboard, line, trend
from treetop.train import Iteration, Rated, Run, TrainOptions
from treetop.train.ratings import ANCHORS


def iteration(index):
    loss = None if index == 1 else 1.0 / index
    return Iteration(
        index, 9.0 * index, 300 * index, 4000 * index, 70 * index, loss, loss, 20.0, -0.1, 1.2, 712.0
    )  # fmt: skip


def rated(index):
    counts = ([0, 0, 0, 0, 10], [0, 0, 6, 0, 4], [3, 0, 4, 0, 3], [8, 0, 2, 0, 0])
    links = {ANCHORS[1]: {"random": [0, 0, 5, 0, 95]}} if index == 1 else {}
    accuracy = {"positions": 200, "policy": 0.775, "search": 0.93, "chance": 0.31}
    scores = dict(zip(ANCHORS, (1.0, 0.7, 0.5, 0.1), strict=True))
    return Rated(
        index, 60.0 * index, scores, dict(zip(ANCHORS, counts, strict=True)), links, [794.0, 705.0, 904.0], accuracy
    )


def drawn(dashboard, width, encoding="utf-8"):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    console = Console(width=width, file=file, force_terminal=True, color_system=None)
    console.print(dashboard)
    file.flush()
    return file.buffer.getvalue().decode(encoding).splitlines()


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", "connect_four", TrainOptions(minutes=30))


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_run_fits_a_terminal(run, width):
    run.events += [iteration(index) for index in range(1, 200)] + [rated(index) for index in range(1, 9)]
    run.seconds = 600.0
    lines = drawn(Dashboard(run, elapsed=lambda: 5.0), width)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    assert len(lines) <= 24
    for part in ("connect_four", "34%", "10:05 used, 19:55 left", "796,000", "712", "95% interval", "uct 10k", "93%"):
        assert part in text, part
    assert "█" in text
    assert text.count(" to +") == 6  # the newest ratings


def test_a_run_without_an_iteration_shows_its_time(run):
    text = "\n".join(drawn(Dashboard(run, elapsed=lambda: 90.0), 80))
    assert "1:30 used, 28:30 left" in text
    assert "playing the first iteration" in text


def test_events_are_added(run):
    dashboard = Dashboard(run, elapsed=lambda: 0.0)
    dashboard.add(iteration(1))
    dashboard.add(rated(1))
    text = "\n".join(drawn(dashboard, 80))
    assert "4,000" in text
    assert "Elo of the anchors" in text


def test_a_terminal_without_blocks_gets_none(run):
    run.events += [iteration(index) for index in range(1, 20)]
    assert "policy loss" in "\n".join(drawn(Dashboard(run, elapsed=lambda: 1.0), 80, "ascii"))


def test_lines():
    assert line(iteration(2)) == (
        "18 s: iteration 2, 600 games, 8,000 positions, 712 positions/s, loss 0.500 + 0.500"
    )  # fmt: skip
    text = line(rated(1))
    assert text.startswith("60 s: Elo +794 (+705 to +904); scores 100% against random, ")
    assert "value kept in 77.5% (policy) and 93.0% (search) of 200 positions" in text
    assert line(Rated(1, 2.0, {"random": 0.9})) == "2 s: scores 90% against random"


def test_trends_are_as_wide_as_wanted():
    assert len(trend(list(range(1000)), 40)) == 40
    assert trend([]) == ""
    assert trend([1.0, 1.0]) == "▁▁"
