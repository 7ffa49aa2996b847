"""Self-play: playout caps, openings, noise, surprise, resignation, and the scale of values."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

from treetop.errors import ConfigError
from treetop.evaluators.networks.model import Model
from treetop.train import Run, TrainOptions
from treetop.train.resignation import Resignation
from treetop.train.self_play import SelfPlay


def play(game="tic_tac_toe", games=40, **options):
    known = tt.load_game(game)
    chosen = TrainOptions(**{"slots": 16, "simulations": 16, "endgame": 0, **options}).for_game(known)
    found, playing = [], SelfPlay(Model.untrained(known, "tiny", seed=1), chosen, 3)
    while len(found) < games:
        found += playing.step()
    return found, playing


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
def test_every_position_has_a_policy_over_legal_moves_and_the_outcome(rule):
    for game in play(rule=rule, openings=0.0, trace=1.0)[0]:
        samples = game.samples
        assert len(samples) == game.moves
        policies = samples.policies.dense(9)
        assert policies.sum(axis=1) == pytest.approx(np.ones(len(samples)), abs=1e-5)
        taken = tt.states.legal_mask(tt.load_game("tic_tac_toe"), samples.states)
        assert not policies[~taken].any()
        signs = np.where(np.arange(len(samples)) % 2 == 0, 1.0, -1.0)
        assert samples.values[:, 0].tolist() == (signs * game.returns[0]).tolist()


def test_games_with_noise_and_temperature_differ():
    games, _ = play(rule="puct", openings=0.0)
    assert len({game.samples.states.tobytes() for game in games}) > 10


def test_fast_moves_are_not_trained_on():
    games, _ = play("connect_four", fast_share=0.75, openings=0.0, games=60)  # games without a full search are left out
    share = sum(len(game.samples) for game in games) / sum(game.moves for game in games)
    assert share == pytest.approx(0.25, abs=0.05)


def test_random_openings_are_not_trained_on():
    games, _ = play(openings=1.0, opening_moves=3, games=100)
    lengths = [game.moves - len(game.samples) for game in games]
    assert set(lengths) == {1, 2, 3}


def test_openings_are_as_long_as_random_games():
    assert TrainOptions().for_game(tt.load_game("tic_tac_toe")).opening_moves in (7, 8)
    assert TrainOptions().for_game(tt.load_game("connect_four")).opening_moves in range(19, 24)


def test_long_games_begin_with_a_search_without_a_network():
    short, long = (TrainOptions().for_game(tt.load_game(game)) for game in ("connect_four", "xiangqi"))
    assert (short.bootstrap, short.bootstrap_simulations) == (0.0, None)
    assert (long.bootstrap, long.bootstrap_simulations, long.opening_moves) == (0.15, 4 * long.simulations, 20)


def test_games_go_on_when_the_network_begins_to_play():
    game, calls = tt.load_game("connect_four"), []
    model = Model.untrained(game, "tiny", seed=1)
    model.evaluate = lambda batch: calls.append(len(batch)) or Model.evaluate(model, batch)
    model.for_self_play = lambda: model
    options = TrainOptions(slots=4, simulations=4, openings=0.0, endgame=0, bootstrap=0.5).for_game(game)
    playing = SelfPlay(model, options, 3, bootstrap=True)
    for _ in range(3):
        assert playing.step() == []
    assert not calls
    playing.use(model)
    played = []
    while len(played) < 4:
        played += playing.step()
    assert calls
    for one in played[:4]:  # the moves before and after the change
        assert len(one.samples) == one.moves >= 7
        assert (one.samples.states[0] == tt.position(game).record[0]).all()


def test_surprise_moves_weights_to_where_the_search_changed_the_policy():
    games, _ = play(surprise=0.5, openings=0.0)
    weights = np.concatenate([game.samples.weights for game in games])
    assert weights.min() >= 0.5
    assert weights.std() > 0.05
    for game in games:
        assert game.samples.weights.mean() == pytest.approx(1.0, abs=1e-5)


def test_priority_moves_weights_to_where_the_search_was_wrong():
    outcomes, own = (play(priority=1.0, openings=0.0, trace=trace)[0] for trace in (1.0, 0.0))
    for game, searched in zip(outcomes, own, strict=True):
        errors = np.abs(game.samples.values - searched.samples.values)[:, 0]
        if errors.max() > errors.min() + 1e-3:
            assert game.samples.weights == pytest.approx(errors / errors.mean(), abs=1e-3)


def test_values_are_mixed_from_the_outcome_and_the_searches_that_follow():
    games = [play(openings=0.0, trace=trace)[0] for trace in (1.0, 0.0, 0.7)]
    for outcome, own, mixed in zip(*games, strict=True):
        signs = np.where(np.arange(len(own.samples)) % 2 == 0, 1.0, -1.0)  # of the first player
        expected = total = signs[-1] * outcome.samples.values[-1, 0]
        found = signs * mixed.samples.values[:, 0]
        for row in reversed(range(len(own.samples))):
            expected = 0.7 * expected + 0.3 * signs[row] * own.samples.values[row, 0]
            assert found[row] == pytest.approx(expected, abs=1e-5)
        assert total == outcome.returns[0]


def test_a_threshold_of_resignation_keeps_its_rate():
    rule, rng = Resignation(0.1), np.random.default_rng(1)
    for _ in range(1000):
        value = rng.uniform(-1, 0)
        saved = rng.random() > -value  # a player at -0.9 saves one game in ten
        rule.add([value, 0.5], [1.0, -1.0] if saved else [-1.0, 1.0])
    assert -0.9 < rule.threshold <= -0.7
    assert rule.false_rate is not None
    assert rule.false_rate <= 0.1


def test_nobody_resigns_before_it_was_checked():
    rule = Resignation(0.05)
    for _ in range(10):
        rule.add([-0.95, 0.9], [-1.0, 1.0])
    assert rule.threshold == -np.inf


class Exact:
    """A network that knows nim: multiples of four are lost for the player to move."""

    def __init__(self, game):
        self.game, self.architecture = game, Model.untrained(game, "tiny").architecture

    def for_self_play(self):
        return self

    def evaluate(self, batch):
        lost = batch.states["heap"] % 4 == 0
        return np.zeros((len(lost), self.game.facts.num_actions), np.float32), np.where(lost, -0.95, 0.95)


def test_players_resign_lost_games_and_few_of_them_were_not_lost():
    game = tt.load_game("nim(stones=20)")
    options = TrainOptions(slots=64, simulations=4, resign=0.2, openings=0.5).for_game(game)
    games, playing = [], SelfPlay(Exact(game), options, 3)
    while len(games) < 2000:
        games += playing.step()
    assert playing.resignation.false_rate <= 0.2
    resigned = [game for game in games if game.resigned]
    assert len(resigned) > 100
    assert all(sorted(game.returns) == [-1.0, 1.0] for game in resigned)
    assert np.mean([game.moves for game in resigned]) < np.mean([game.moves for game in games if not game.resigned])


def test_an_iteration_reports_resignations_and_how_many_were_wrong(tmp_path):
    from treetop.cli.train_display import line

    options = TrainOptions(iterations=2, slots=32, simulations=4, chunk=512, rating_games=0, resign=0.2)
    run = Run.create(tmp_path / "run", "nim(stones=20)", options)
    run.train()
    found = Run.open(tmp_path / "run").events[-1]
    assert 0.0 <= found.resigned <= 1.0
    assert "of the games resigned" in line(found)


@pytest.mark.parametrize("game", ["nim_three", "cliff_walking"])
def test_resignation_needs_a_game_of_two_players(game):
    with pytest.raises(ConfigError, match="two players"):
        TrainOptions(resign=0.05).for_game(tt.load_game(game))


def test_values_of_one_player_are_learned_on_their_own_scale(tmp_path):
    run = Run.create(
        tmp_path / "run",
        "cliff_walking",
        TrainOptions(iterations=24, slots=16, simulations=8, chunk=256, rating_games=0, deterministic=True),
    )
    run.train()
    assert run.architecture.head == "linear"
    drawn = run.replay.draw(np.random.default_rng(1), 256)
    _, values = run.model().run(tt.states.observations(run.game, drawn.states))
    spread = drawn.values.std()
    assert np.abs(values - drawn.values).mean() < spread


def own(shape, actions, values):
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(
                torch.nn.Flatten(), torch.nn.Linear(int(np.prod(shape)), 32), torch.nn.ReLU()
            )
            self.policy, self.value = torch.nn.Linear(32, actions), torch.nn.Linear(32, values)

        def forward(self, observations):
            hidden = self.body(observations)
            return self.policy(hidden), torch.tanh(self.value(hidden))

    return Network()


def test_a_module_of_the_user_is_trained_continued_and_played(tmp_path):
    options = {"iterations": 2, "slots": 16, "simulations": 8, "chunk": 128, "rating_games": 0}
    run = tt.train("tic_tac_toe", out=tmp_path / "run", module=own, **options)
    assert run.learner.steps > 0
    with pytest.raises(ConfigError, match="needs its module again"):
        Run.open(tmp_path / "run")
    assert Run.open(tmp_path / "run", module=own).iteration == 2
    result = tt.match(f"net({str(tmp_path / 'run')!r}, simulations=16)", "random", "tic_tac_toe", games=2, workers=1)
    assert result.games == 2


@pytest.mark.parametrize(
    ("factory", "text"),
    [
        (lambda *_: 3, "must be a torch.nn.Module"),
        (lambda shape, actions, values: own(shape, actions + 1, values), "must return logits and values"),
        (lambda shape, actions, values: own((1, 2), actions, values), "fails on observations"),
    ],
)
def test_a_module_that_does_not_fit_is_refused(tmp_path, factory, text):
    with pytest.raises(ConfigError, match=text):
        Run.create(tmp_path / "run", "tic_tac_toe", TrainOptions(), module=factory)


def test_a_graph_that_is_none_is_refused(tmp_path):
    tt.train(
        "tic_tac_toe", out=tmp_path / "run", module=own, iterations=1, slots=8, simulations=4, chunk=32, rating_games=0
    )
    for content in (b"", b"nonsense", b"\0" * 1000):
        (tmp_path / "run" / "model.onnx").write_bytes(content)
        with pytest.raises(tt.TreetopError):
            tt.load_model(tmp_path / "run")


def test_a_new_network_is_accepted_by_a_match(tmp_path):
    from treetop.train.acceptance import Accepted

    options = TrainOptions(
        iterations=4, slots=32, simulations=8, chunk=512, rating_games=0, accept="sprt", accept_every=2, accept_games=20
    )
    run = Run.create(tmp_path / "run", "tic_tac_toe", options)
    run.train()
    found = [event for event in Run.open(tmp_path / "run").events if isinstance(event, Accepted)]
    assert [event.iteration for event in found] == [2, 4]
    accepted = [event.iteration for event in found if event.accepted]
    assert run.model().made["iteration"] == (accepted[-1] if accepted else 0)


def test_a_deterministic_iteration_finishes_the_games_that_it_has_started():
    known = tt.load_game("tic_tac_toe")
    playing = SelfPlay(Model.untrained(known, "tiny", seed=1), TrainOptions(slots=16, simulations=4).for_game(known), 3)
    games = []
    while len(games) < 5:
        games += playing.step()
    before = len(games)
    while playing.ends():
        games += playing.step()
    assert len(games) >= before + 16 - 1  # those of every slot, but for games that ended within their opening
    assert playing.step() == []


def test_the_time_of_a_run_ends_an_iteration(tmp_path):
    options = TrainOptions(minutes=0.02, slots=16, simulations=4, chunk=10**6, rating_games=0)
    run = Run.create(tmp_path / "run", "tic_tac_toe", options)
    run.train()
    assert run.iteration >= 1
    assert run.seconds < 30
