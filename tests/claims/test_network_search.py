"""A search with a network, on xiangqi: what goes wrong in well-known programs of this kind is right here."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt

GAME = tt.load_game("xiangqi")
SHARP = 1.5  # the spread of the logits of the network below


class Network:
    """Logits that depend on the action only, and one value for every position."""

    def __init__(self, value=0.1):
        self.logits = np.random.default_rng(1).normal(0.0, SHARP, GAME.facts.num_actions)
        self.value = value

    def evaluate(self, batch):
        return np.tile(self.logits, (len(batch), 1)), np.full(len(batch), self.value)


def search(config, simulations=400, position="xiangqi", **options):
    return tt.search(position, config, evaluator=options.pop("evaluator", Network()), simulations=simulations, seed=1,
                     **options)  # fmt: skip


def priors_of(found):
    return {child.action: child.prior for child in found.tree.root.children}


def expected_priors():
    legal = tt.position(GAME).legal_actions()
    shares = np.exp(Network().logits[legal])
    return dict(zip(legal, shares / shares.sum(), strict=True))


def test_priors_are_a_softmax_over_the_legal_moves():
    assert priors_of(search(tt.puct())) == pytest.approx(expected_priors(), abs=1e-6)


def test_visits_of_the_root_count_so_the_first_priors_matter():
    for batch in (1, 8):
        found = search(tt.puct(c=5.0, batch_size=batch), 64)
        assert sum(found.visits.values()) == found.root_visits - 1 == 63
        expected = expected_priors()
        ranked = sorted(expected, key=expected.get, reverse=True)
        assert found.visits[ranked[0]] == max(found.visits.values())
        assert sum(found.visits[action] for action in ranked[:10]) > 0.8 * 63
    few = search(tt.puct(c=5.0), 2)  # the root, and one move
    assert [action for action, count in few.visits.items() if count] == [ranked[0]]


def test_noise_reaches_every_legal_move():
    plain, noisy = expected_priors(), priors_of(search(tt.puct(noise=0.25, noise_alpha=0.3)))
    assert sum(noisy.values()) == pytest.approx(1.0, abs=1e-5)
    noise = np.array([(noisy[action] - 0.75 * plain[action]) / 0.25 for action in plain])
    assert noise.sum() == pytest.approx(1.0, abs=1e-4)
    assert (noise > -1e-6).all()
    assert (noise > 1e-4).sum() > len(plain) / 4  # of alpha 0.3 many shares are small, and one is not all
    assert noise.max() < 0.9


@pytest.mark.parametrize("kind", ["none", "always", "first"])
def test_virtual_loss_never_enters_the_values(kind):
    found = search(tt.puct(virtual_loss=kind, batch_size=8), evaluator=Network(0.1), simulations=300)
    tree = found.tree
    assert not tree.columns.in_flight[: tree.size].any()
    tree.check()
    for child in tree.root.children:  # every leaf has the value 0.1 for the player to move there
        if child.visits == 1:
            assert child.value == pytest.approx(-0.1, abs=1e-7)
    assert all(abs(child.value) <= 0.1 + 1e-7 for child in tree.root.children if child.visits)


def test_a_player_who_cannot_move_has_lost_and_the_search_knows_it():
    position = tt.Position.parse(GAME, "3k5/9/9/3P5/9/9/9/9/9/4K4 w - - 0 1")
    stalemate = position.play("d7d8")
    assert stalemate.is_terminal
    assert list(stalemate.rewards) == [1.0, -1.0]
    found = search(tt.puct(), 200, position, evaluator=Network(0.0))
    assert found.move == "d7d8"
    assert found.values[0] > 0.5


def test_the_subtree_of_the_played_move_is_kept():
    running = tt.Search("xiangqi", tt.puct(), evaluator=Network(), seed=1)
    best = running.run(tt.Limit(simulations=400))
    kept = best.visits[best.action]
    running.advance(best.action)
    assert running.tree.root.visits == kept > 1


def test_temperature_follows_the_visits():
    found = search(tt.puct())
    whole, sharp = found.policy(1.0), found.policy(0.0)
    for action, count in found.visits.items():
        assert whole[action] == pytest.approx(count / sum(found.visits.values()), abs=1e-9)
        assert sharp[action] == float(action == found.action)
