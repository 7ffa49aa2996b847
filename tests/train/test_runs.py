"""Training runs: they learn, they can be continued, and a crash loses at most the games in flight."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import treetop as tt

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

from treetop.errors import ConfigError, SaveError
from treetop.files import read_bytes
from treetop.train import Run, TrainOptions, read_events
from treetop.train.policies import Policies
from treetop.train.samples import Samples, examples
from treetop.train.self_play import SelfPlay

SMALL = {"slots": 16, "simulations": 8, "chunk": 128, "rating_games": 0}


def begin(folder, game="tic_tac_toe", **options):
    return Run.create(folder, game, TrainOptions(**{**SMALL, **options}))


def test_training_improves_a_network(tmp_path):
    run = begin(tmp_path / "run", deterministic=True, iterations=10, slots=64, simulations=16, chunk=1024, reuse=8)
    start = run.model()
    start.save(tmp_path / "start")
    run.train()
    net, before = (f"net({str(tmp_path / name)!r}, simulations=16)" for name in ("run", "start"))
    assert tt.match(net, before, "tic_tac_toe", games=60, seed=1, workers=1).score > 0.6
    assert tt.match(net, "random", "tic_tac_toe", games=40, seed=2, workers=1).score > 0.85


def test_a_continued_deterministic_run_has_the_data_of_an_uninterrupted_one(tmp_path):
    whole = begin(tmp_path / "whole", deterministic=True, iterations=3)
    whole.train()
    parts = begin(tmp_path / "parts", deterministic=True, iterations=3)
    parts.train(on_event=lambda event: event.iteration < 2 or os.kill(os.getpid(), signal.SIGINT))
    assert parts.iteration == 2
    again = Run.open(tmp_path / "parts")
    again.train()
    assert again.iteration == whole.iteration == 3
    assert again.replay.digest() == whole.replay.digest()
    weights = [read_bytes(tmp_path / name / "model.safetensors") for name in ("whole", "parts")]
    assert weights[0] == weights[1]


@pytest.fixture
def whole(tmp_path):
    """A deterministic run of three iterations, whose window is already full."""
    run = begin(tmp_path / "whole", deterministic=True, iterations=3, window=40)
    run.train()
    return run


def test_ctrl_c_within_an_iteration_does_not_change_a_deterministic_run(tmp_path, whole, monkeypatch):
    parts, steps = begin(tmp_path / "parts", deterministic=True, iterations=3, window=40), itertools.count()
    step = SelfPlay.step

    def interrupted(play):
        if next(steps) == 7:
            signal.raise_signal(signal.SIGINT)
        return step(play)

    monkeypatch.setattr(SelfPlay, "step", interrupted)
    parts.train()
    assert parts.iteration < 3
    again = Run.open(tmp_path / "parts")
    again.train()
    assert again.replay.digest() == whole.replay.digest()


def test_a_crash_before_the_checkpoint_does_not_change_a_deterministic_run(tmp_path, whole):
    parts, kept = begin(tmp_path / "parts", deterministic=True, iterations=3, window=40), {}
    checkpoint = tmp_path / "parts" / "learner.safetensors"
    parts.train(on_event=lambda event: kept.setdefault(event.iteration, checkpoint.read_bytes()))
    checkpoint.write_bytes(kept[2])  # as if the third iteration's data had been written, and nothing more
    again = Run.open(tmp_path / "parts")
    again.train()
    assert again.replay.digest() == whole.replay.digest()
    weights = [read_bytes(tmp_path / name / "model.safetensors") for name in ("whole", "parts")]
    assert weights[0] == weights[1]


def test_ctrl_c_keeps_the_games_that_are_finished(tmp_path, monkeypatch):
    run, step = begin(tmp_path / "run", minutes=10, chunk=10**6), SelfPlay.step
    steps = itertools.count()

    def interrupted(play):
        if next(steps) == 20:
            signal.raise_signal(signal.SIGINT)
        return step(play)

    monkeypatch.setattr(SelfPlay, "step", interrupted)
    run.train()
    assert (run.iteration, Run.open(tmp_path / "run").replay.total) == (1, run.replay.total)
    assert run.games > 0


def test_a_torn_line_of_the_metrics_costs_that_line_only(tmp_path):
    begin(tmp_path / "run", iterations=1).train()
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"event": "iteration", "iter')
    run = Run.open(tmp_path / "run")
    run._log(run.events[0])
    assert [event.iteration for event in read_events(tmp_path / "run")] == [1, 1]


def test_another_seed_gives_other_data(tmp_path):
    runs = [begin(tmp_path / str(seed), deterministic=True, iterations=1, seed=seed) for seed in (1, 2)]
    for run in runs:
        run.train()
    assert runs[0].replay.digest() != runs[1].replay.digest()


@pytest.mark.parametrize("game", ["pig", "nim_three", "cliff_walking", "othello(size=6)"])
def test_games_of_every_kind_can_be_trained(tmp_path, game):
    run = begin(tmp_path / "run", game, iterations=2, chunk=64)
    run.train()
    drawn = run.replay.draw(np.random.default_rng(1), 64)
    low, high = run.game.facts.value_range(step_rewards=run.game.has("step_rewards"))
    assert low <= drawn.values.min() <= drawn.values.max() <= high
    assert np.allclose(drawn.policies.dense(run.game.facts.num_actions).sum(axis=1), 1.0, atol=1e-5)
    assert [event.iteration for event in read_events(tmp_path / "run")] == [1, 2]


def test_a_run_plays_without_its_network_at_first(tmp_path, monkeypatch):
    seen, made = [], SelfPlay.__init__

    def noted(self, model, options, seed, *, bootstrap=False):
        seen.append(bootstrap)
        made(self, model, options, seed, bootstrap=bootstrap)

    monkeypatch.setattr(SelfPlay, "__init__", noted)
    begin(tmp_path / "run", deterministic=True, iterations=4, bootstrap=0.5).train()
    assert seen == [True, True, False, False]


def test_a_killed_run_keeps_what_was_finished(tmp_path):
    folder, rng = tmp_path / "run", random.Random(1)
    begin(folder, minutes=10, chunk=64)
    program = f"import treetop.train as t; t.Run.open({str(folder)!r}).train()"
    positions = 0
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", program])
        started = len(list(read_events(folder)))
        deadline = time.monotonic() + 90
        while len(list(read_events(folder))) == started and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(rng.random() * 0.3)
        process.kill()
        process.wait()
        run = Run.open(folder)
        assert run.replay.total > positions
        positions = run.replay.total
        assert run.model().architecture.actions == 9
        assert run.iteration >= 1


def test_symmetries_move_policies_with_their_positions():
    game = tt.load_game("connect_four")
    policy = Policies.of([[0.7, 0.3, 0, 0, 0, 0, 0]])
    zero = np.zeros((1, 1), np.float32)
    samples = Samples(tt.position(game).play("1").record, policy, zero, np.ones(1, np.float32))
    observed, policies, masks = examples(game, samples, np.array([1]))
    assert policies[0].tolist() == pytest.approx([0, 0, 0, 0, 0, 0.3, 0.7])
    assert observed[0, 1].any(axis=0).tolist() == [False] * 6 + [True]
    assert masks.all()


@pytest.mark.parametrize(
    "options",
    [
        {"minutes": 0},
        {"size": "huge"},
        {"slots": 0},
        {"simulations": -1},
        {"reuse": 0},
        {"openings": 2},
        {"mintes": 3},
        {"rule": "magic"},
        {"accept": "never"},
        {"fast_share": 1.0},
        {"resign": 0.1, "deterministic": True},
        {"learner": 3},
        {"learner": {"rate": -1}},
        {"learner": {"rates": 1}},
    ],
    ids=str,
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ConfigError):
        TrainOptions.from_dict(options)


def test_a_folder_holds_one_run(tmp_path):
    begin(tmp_path / "run")
    with pytest.raises(ConfigError, match="holds a training run already"):
        begin(tmp_path / "run")


def test_a_run_of_changed_rules_is_not_continued(tmp_path):
    begin(tmp_path / "run", "nim")
    with pytest.raises(SaveError, match=r"is of nim, not of nim\(stones=9"):
        Run.open(tmp_path / "run", game="nim(stones=9)")
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps({**header, "rules": "other"}))
    with pytest.raises(SaveError, match="begin a new run"):
        Run.open(tmp_path / "run")


def test_a_damaged_checkpoint_is_refused(tmp_path):
    begin(tmp_path / "run", iterations=1).train()
    (tmp_path / "run" / "learner.safetensors").write_bytes(b"nonsense")
    with pytest.raises(SaveError, match="is not a checkpoint"):
        Run.open(tmp_path / "run")


@pytest.mark.parametrize("game", ["goofspiel", "leduc_poker", "pendulum"])
def test_a_game_that_a_pool_cannot_search_is_refused_and_no_folder_is_made(tmp_path, game):
    with pytest.raises(tt.TreetopError):
        begin(tmp_path / "run", game)
    assert not (tmp_path / "run").exists()
