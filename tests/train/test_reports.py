"""What a person sees of a run: Elo, accuracy, the report, event files; and metrics of older runs."""

from __future__ import annotations

import builtins
import json
import re
import time

import numpy as np
import pytest

import treetop as tt

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")
pytest.importorskip("choix", reason="needs choix: pip install -e '.[arena]'")

from treetop.errors import ConfigError, MissingExtraError, SaveError
from treetop.oracle.exhaustive import Exhaustive
from treetop.train import Iteration, Rated, Run, TrainOptions, draw, fit_elo, read_events, write_report
from treetop.train.accuracy import FILE, Labelled, exact_positions, kept, kept_by_chance, labelled
from treetop.train.events import checked
from treetop.train.ratings import ANCHORS, rate
from treetop.train.report import report

SMALL = {"slots": 16, "simulations": 8, "chunk": 128, "rating_games": 2, "minutes": 0.2}
HOSTILE = '<script>alert("x")</script>$\\frac{&'


# Elo.


def pairs(rng, elo, count):
    """Results of pairs of independent games without draws, for a player who is so much stronger."""
    chance = 1 / (1 + 10 ** (-elo / 400))
    points = rng.binomial(2, chance, count)
    return [int((points == wins).sum()) if wins is not None else 0 for wins in (0, None, 1, None, 2)]


def test_elo_of_known_strengths_is_found():
    rng = np.random.default_rng(1)
    anchors = {"random": 0, "a": 300, "b": 600}
    links = {"a": {"random": pairs(rng, 300, 400)}, "b": {"a": pairs(rng, 300, 400)}}
    strengths = (150, 450, 700)
    events = [
        Rated(index, 60.0 * index, {}, {name: pairs(rng, elo - own, 200) for name, own in anchors.items()})
        for index, elo in enumerate(strengths)
    ]
    events[0] = Rated(0, 0.0, {}, events[0].counts, links)
    curve = fit_elo(events)
    assert [point.iteration for point in curve.points] == [0, 1, 2]
    for point, elo in zip(curve.points, strengths, strict=True):
        assert point.elo.value == pytest.approx(elo, abs=60)
        assert point.elo.low - 20 < elo < point.elo.high + 20
    assert curve.anchors["random"].value == 0
    assert curve.anchors["b"].value == pytest.approx(600, abs=60)


def test_a_network_that_always_beats_random_is_rated_by_the_other_anchors():
    rng = np.random.default_rng(2)
    links = {"a": {"random": pairs(rng, 300, 100)}, "b": {"a": pairs(rng, 300, 100)}}
    counts = {"random": [0, 0, 0, 0, 10], "a": [0, 0, 3, 0, 7], "b": [2, 0, 6, 0, 2]}
    curve = fit_elo([Rated(1, 60.0, {}, counts, links)])
    elo = curve.points[0].elo
    assert elo.value == pytest.approx(curve.anchors["b"].value, abs=100)
    assert elo.high - elo.low < 500


def test_players_without_a_connection_and_wrong_counts_are_left_out():
    events = [
        Rated(1, 1.0, {"random": 0.5}),  # of an older run, without counts
        Rated(2, 2.0, {}, {"random": [1, 0, 0, 0, 4]}),
        Rated(3, 3.0, {}, {"somebody": [1, 0, 0, 0, 4]}),
        Rated(4, 4.0, {}, {"random": [-1, 0], "uct(simulations=100)": [0, 0, 0, 0, 0]}),
    ]
    assert [point.iteration for point in fit_elo(events).points] == [2]
    assert fit_elo(events[:1]).points == ()


# Accuracy.


def test_labels_are_the_exact_values():
    found, oracle = labelled("tic_tac_toe", 40, seed=7, plies=(0, 8)), Exhaustive()
    assert len({one.position.record.tobytes() for one in found}) == 40
    for one in found:
        player = one.position.player
        values = {action: worth[player] for action, worth in oracle.action_values(one.position).items()}
        assert one.values == values
        assert min(values.values()) < max(values.values())
        assert sorted(one.best) == sorted(oracle.best_actions(one.position))


def test_shares_of_kept_values():
    position = tt.position("nim(stones=5)")
    found = [Labelled(position, {0: 1.0, 1: -1.0, 2: -1.0})] * 4
    assert kept(found, [0, 0, 1, 2]) == 0.5
    assert kept_by_chance(found) == pytest.approx(1 / 3)


def test_positions_are_kept_in_the_folder(tmp_path):
    game = tt.load_game("tic_tac_toe")
    first = exact_positions(tmp_path, game, seconds=2.0)
    content = (tmp_path / FILE).read_bytes()
    again = exact_positions(tmp_path, game, seconds=2.0)
    assert [one.values for one in first] == [one.values for one in again]
    assert [one.position.actions for one in first] == [one.position.actions for one in again]
    assert (tmp_path / FILE).read_bytes() == content


@pytest.mark.parametrize("content", ["", "[]", '{"kind": "positions with exact values"}'])
def test_a_damaged_file_of_positions_is_made_again(tmp_path, content):
    (tmp_path / FILE).write_text(content)
    assert exact_positions(tmp_path, tt.load_game("nim(stones=5)"), seconds=1.0)
    assert json.loads((tmp_path / FILE).read_text())["version"] == 1


def test_illegal_moves_in_a_file_of_positions_are_refused(tmp_path):
    game = tt.load_game("nim(stones=5)")
    content = {"kind": "positions with exact values", "version": 1, "rules": game.digest}
    wrong = {**content, "positions": [{"moves": [99], "values": {"0": 1.0}}]}
    (tmp_path / FILE).write_text(json.dumps(wrong))
    assert all(99 not in one.position.actions for one in exact_positions(tmp_path, game, seconds=1.0))


@pytest.mark.parametrize("game", ["pig", "leduc_poker", "nim_three"])
def test_games_without_exact_values_have_no_positions(tmp_path, game):
    assert exact_positions(tmp_path, tt.load_game(game), seconds=1.0) == []


def test_ctrl_c_ends_the_labelling(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        exact_positions(tmp_path, tt.load_game("nim"), seconds=1.0, interrupted=lambda: True)
    assert not (tmp_path / FILE).exists()


# A run.


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a short run with one rating."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    tt.train("tic_tac_toe", out=folder, iterations=1, ratings=1, **SMALL)
    return folder


def test_a_run_is_rated_and_reported(trained):
    rated = [event for event in read_events(trained) if isinstance(event, Rated)]
    assert len(rated) == 1
    event = rated[0]
    assert list(event.scores) == list(event.counts)
    assert set(event.scores) <= set(ANCHORS)
    assert all(sum(counts) == 1 for counts in event.counts.values())
    assert event.links
    assert event.elo is not None
    assert event.elo[1] <= event.elo[0] <= event.elo[2]
    assert 0 <= event.accuracy["chance"] < event.accuracy["search"] <= 1
    assert (trained / "report.html").exists()
    assert (trained / "report.png").read_bytes().startswith(b"\x89PNG")


def test_each_rating_plays_against_the_network_of_the_one_before(tmp_path):
    tt.train("tic_tac_toe", out=tmp_path / "run", iterations=2, ratings=2, **SMALL)
    first, second = (event for event in read_events(tmp_path / "run") if isinstance(event, Rated))
    assert (first.past, first.past_score) == ([], None)
    assert sum(second.past) == 1
    assert 0 <= second.past_score <= 1
    for event in (first, second):
        model = tt.load_model(tmp_path / "run" / "rated" / f"{event.iteration:06d}")
        assert model.made["iteration"] == event.iteration
    assert "rating before" in (tmp_path / "run" / "report.html").read_text()


def test_games_against_the_past_connect_the_ratings():
    events = [Rated(1, 1.0, {}, {"random": [1, 0, 8, 0, 31]}), Rated(2, 2.0, {}, past=[10, 0, 20, 0, 70])]
    one, two = (point.elo for point in fit_elo(events).points)
    assert two.value - one.value == pytest.approx(tt.arena.rate((10, 0, 20, 0, 70)).elo.value, abs=2)
    assert len(fit_elo([events[0], Rated(2, 2.0, {}, past=[-1, 2])]).points) == 1


def test_a_continued_run_keeps_its_ratings(trained):
    run = Run.open(trained, minutes=0.3)
    assert fit_elo(run.events).points == fit_elo(list(read_events(trained))).points != ()
    assert run.events == list(read_events(trained))


def test_ctrl_c_ends_a_rating(trained):
    game, options = tt.load_game("tic_tac_toe"), TrainOptions(**SMALL)
    with pytest.raises(KeyboardInterrupt):
        rate(trained, game, options, 1, [], lambda: True)


def test_the_network_is_trained_while_it_is_rated(tmp_path, monkeypatch):
    options = TrainOptions(iterations=4, ratings=2, **{**SMALL, "reuse": 1000})
    run, taken = Run.create(tmp_path / "run", "tic_tac_toe", options), []

    def slow(*arguments):
        before, end = run.learner.steps, time.monotonic() + 20
        while run.learner.steps == before and time.monotonic() < end and not run.is_over:
            time.sleep(0.01)
        taken.append(run.learner.steps - before)
        return Rated(run.iteration, 0.0, {})

    monkeypatch.setattr("treetop.train.run.rate", slow)
    run.train()
    assert len(taken) == 2
    assert taken[0] > 0
    assert taken[1] == 0  # the run was over
    assert [event.policy_loss is None for event in run.events if isinstance(event, Iteration)] == [True] + 3 * [False]


def test_ratings_take_a_quarter_of_the_time_at_most_except_the_last(tmp_path):
    run = Run.create(tmp_path / "run", "tic_tac_toe", TrainOptions(**{**SMALL, "minutes": 0.4}))
    run.seconds = 6.0
    assert run._rating_due()
    run.events = [Rated(1, 6.0, {}, took=5.0)]
    for run.seconds, due in ((7.0, False), (15.0, False), (21.0, True), (24.0, True)):
        assert run._rating_due() == due
    run.events = [Rated(1, 24.0, {}, took=15.0)]
    assert run._rating_due()


def test_the_speed_of_workers_counts_the_time_of_ratings(tmp_path, monkeypatch):
    run = Run.create(tmp_path / "run", "tic_tac_toe", TrainOptions(iterations=2, ratings=2, **SMALL))
    monkeypatch.setattr("treetop.train.run.rate", lambda *_: (time.sleep(3.0), Rated(run.iteration, 0.0, {}))[1])
    run.train(workers=2)
    last = [event for event in run.events if isinstance(event, Iteration)][-1]
    assert last.rate * 3.0 < 3 * run.replay.total  # its games were played within those seconds


def test_metrics_of_older_runs_are_read(tmp_path):
    lines = [
        {"event": "rated", "iteration": 3, "seconds": 60.0, "scores": {"random": 0.9}},
        {"event": "iteration", "iteration": 4, "seconds": 70, "games": 1, "positions": 2, "steps": 3, "policy_loss": None,
         "value_loss": None, "length": 5.0, "first_player": 0.0, "entropy": 1.0, "rate": 100.0},
    ]  # fmt: skip
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rated, iteration = read_events(tmp_path)
    assert (rated.counts, rated.elo, rated.accuracy) == ({}, None, {})
    assert iteration.rate == 100.0


@pytest.mark.parametrize(
    "wrong",
    [{"seconds": "soon"}, {"scores": {"random": "all"}}, {"scores": []}, {"elo": [1.0, None, 2.0]}, {"counts": {"a": 1}},
     {"iteration": True}, {"seconds": 1e300}, {"more": 1}],
)  # fmt: skip
def test_lines_with_wrong_values_are_left_out(wrong):
    with pytest.raises(ValueError, match="wrong value|no field"):
        checked(Rated, {"iteration": 1, "seconds": 1.0, "scores": {}, **wrong})


# The report.


def hostile(folder):
    """A folder of a run in which every text that a file may hold is hostile."""
    folder.mkdir()
    options = {**TrainOptions().to_dict(), "size": HOSTILE, HOSTILE: HOSTILE}
    header = {"kind": "a training run", "version": 2, "game": HOSTILE, "rules": HOSTILE, "options": options}
    (folder / "run.json").write_text(json.dumps(header))
    lines = []
    for index in range(1, 4):
        losses = None if index == 1 else 1.0 / index
        one = Iteration(index, 60.0 * index, 10, 20, 30, losses, losses, 7.0, 0.1, 1.0, 100.0)
        lines.append({"event": "iteration", **vars(one)})
    counts = {"random": [0, 0, 2, 0, 8], HOSTILE: [5, 0, 0, 0, 5]}
    kept = {"positions": 10, "policy": 0.5, "search": 0.7, "chance": 0.3, HOSTILE: 1.0}
    rated = Rated(3, 180.0, {"random": 0.9, HOSTILE: 0.5}, counts, {}, None, kept)
    lines.append({"event": "rated", **vars(rated)})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_the_page_is_one_file_and_loads_nothing(trained):
    text = (trained / "report.html").read_text()
    assert "http:" not in text
    assert "https:" not in text
    assert not re.search(r"<(script|link|img|iframe|object|embed)\b|\bsrc=|@import|url\((?!#)", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme:dark" in text
    assert text.count("<svg") == text.count("</svg>") == text.count("<figure>") >= 6
    for colour in ("#333b3f", "#00796b"):
        assert text.count(colour) == 1  # only where the variable is defined


def test_hostile_text_is_escaped(tmp_path):
    folder = hostile(tmp_path / "<b>run")
    text = write_report(folder).read_text()
    assert "<script" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;" in text
    assert draw(folder).read_bytes().startswith(b"\x89PNG")


def test_a_report_without_ratings_and_losses(tmp_path):
    folder = hostile(tmp_path / "run")
    first = (folder / "metrics.jsonl").read_text().splitlines()[0]
    (folder / "metrics.jsonl").write_text(first + "\n")
    assert "Ratings" not in write_report(folder, tmp_path / "page.html").read_text()
    with pytest.raises(SaveError, match="there are no metrics"):
        write_report(tmp_path)
    assert report(tmp_path) == []


def without(monkeypatch, package):
    """Make the import of a package fail."""
    load = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.partition(".")[0] == package or name == package:
            raise ImportError(name)
        return load(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_a_missing_matplotlib_fails_no_run(tmp_path, monkeypatch):
    folder = hostile(tmp_path / "run")
    without(monkeypatch, "matplotlib")
    assert report(folder) == []
    with pytest.raises(MissingExtraError, match=r"\[plot\]"):
        write_report(folder)


def test_a_missing_choix_leaves_out_the_elo(tmp_path, monkeypatch):
    folder = hostile(tmp_path / "run")
    without(monkeypatch, "choix")
    text = write_report(folder).read_text()
    assert "Elo, with 95% intervals" not in text
    assert "Score against" in text


# TensorBoard.


def test_a_missing_tensorboard_is_an_error_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"\[tensorboard\]"):
        tt.train("tic_tac_toe", out=tmp_path / "run", tensorboard=True, **SMALL)
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("ignore")  # of packages that TensorBoard loads
def test_event_files_can_be_read_back(tmp_path):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install -e '.[tensorboard]'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = hostile(tmp_path / "run")
    with tt.train.TensorBoard(folder) as hook:
        for event in read_events(folder):
            hook(event)
    found = EventAccumulator(str(folder / "tensorboard"))
    found.Reload()
    assert [(one.step, round(one.value, 3)) for one in found.Scalars("loss/policy")] == [(2, 0.5), (3, 0.333)]
    assert found.Scalars("value_kept/search")[0].value == pytest.approx(0.7)
    assert found.Scalars("score/random")[0].step == 3


def test_wrong_settings_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ConfigError):
        tt.train("tic_tac_toe", out=tmp_path / "run", tensorbord=True)
    assert not (tmp_path / "run").exists()
