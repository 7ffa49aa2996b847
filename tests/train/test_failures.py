"""What can go wrong in a run: a clear error, and the last good state is kept."""

from __future__ import annotations

import errno

import pytest

import treetop as tt

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

from treetop import files
from treetop.errors import SaveError, TreetopError
from treetop.train import Run, TrainOptions

SMALL = {"slots": 16, "simulations": 4, "chunk": 128, "rating_games": 0}


def begin(folder, game="tic_tac_toe", **options):
    module = options.pop("module", None)
    return Run.create(folder, game, TrainOptions(**{**SMALL, **options}), module=module)


def test_a_full_disk_ends_a_run_and_it_can_be_continued(tmp_path, monkeypatch):
    run = begin(tmp_path / "run", iterations=4, deterministic=True)
    made = files.tempfile.mkstemp

    def full(*arguments, **options):
        if run.iteration >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return made(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(files.tempfile, "mkstemp", full)
        with pytest.raises(SaveError, match="No space left"):
            run.train()
    again = Run.open(tmp_path / "run")
    assert again.iteration == 1
    again.train()
    whole = begin(tmp_path / "whole", iterations=4, deterministic=True)
    whole.train()
    assert again.replay.digest() == whole.replay.digest()


def diverging(shape, actions, values):
    import math

    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.steps = torch.nn.Linear(math.prod(shape), actions + values), 0

        def forward(self, seen):
            self.steps += self.training
            found = self.layer(seen.flatten(1))
            if self.steps > 20:
                found = found * float("nan")
            return found[:, :actions], torch.tanh(found[:, actions:])

    return Network()


def test_a_network_that_becomes_nan_ends_the_run_and_the_last_one_is_kept(tmp_path):
    run = begin(tmp_path / "run", iterations=50, module=diverging)
    with pytest.raises(TreetopError, match="not finite"):
        run.train()
    assert run.iteration >= 1
    result = tt.search("tic_tac_toe", tt.puct(), evaluator=tt.load_model(tmp_path / "run"), simulations=20, seed=1)
    assert -1.0 <= result.value <= 1.0


def test_a_network_that_gives_nan_is_refused_by_a_search(tmp_path):
    model = tt.load_model(begin(tmp_path / "run").folder)
    model.run = lambda observed: tuple(array * float("nan") for array in type(model).run(model, observed))
    with pytest.raises(TreetopError, match="not numbers below infinity"):
        tt.search("tic_tac_toe", tt.puct(), evaluator=model, simulations=20, seed=1)


@tt.game(players=2, num_actions=3, max_length=21)
class Plain:
    """Take 1 to 3 of 21; the last one wins. There is no `observe`."""

    left = tt.field("i1")
    player = tt.field("i1")

    def reset(self):
        self.left = 21
        self.player = 0

    def legal_actions(self, out):
        count = min(3, self.left)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.left -= action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.left == 0

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0


def test_a_game_without_observe_is_trained_on_its_fields(tmp_path):
    run = begin(tmp_path / "run", Plain, iterations=2)
    run.train()
    assert run.architecture.kind == "dense"
    assert tt.load_model(tmp_path / "run", game=Plain).architecture.observation == run.architecture.observation


def test_hidden_cards_are_no_observation_of_a_position(tmp_path):
    with pytest.raises(TreetopError, match="information"):
        begin(tmp_path / "run", "leduc_poker")
