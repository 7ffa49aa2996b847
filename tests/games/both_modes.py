"""Random games of any kind, interpreted and compiled with bounds checks side by side."""

from __future__ import annotations

import numpy as np

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, rng_word, state_at
from treetop.compiler.rng import Rng, mix
from treetop.compiler.specialise import by_method
from treetop.game import CHANCE
from treetop.game.position import Position

SEEN = np.dtype(
    [
        ("terminal", "?"),
        ("player", "i8"),
        ("count", "i8"),
        ("drawn", "i8"),
        ("rolled", "i8"),
        ("key", "u8"),
        ("rng", "u8"),
    ]
)


@compiled
def _nothing(state, *args):
    return 0


@compiled
def _outcomes(state, actions, probabilities):
    return state.chance_outcomes(actions, probabilities)


@compiled
def _draw_outcome(state, rng):
    return int(state.random_outcome(rng))


@compiled
def _draw_action(state, rng):
    return int(state.random_action(rng))


@compiled
def _roll(state, rng):
    return int(state.rollout_action(rng))


@compiled
def _step_rewards(state, out):
    state.step_rewards(out)
    return 0


@compiled
def _heuristic(state, out):
    state.heuristic(out)
    return 0


@compiled
def _key(state):
    return np.uint64(state.key())


@compiled
def _no_key(state):
    return np.uint64(0)


@compiled
def _deal(state, rng):
    state.deal(rng)
    return 0


outcomes_of = by_method("chance_outcomes", yes=_outcomes, no=_nothing)
draw_outcome = by_method("random_outcome", yes=_draw_outcome, no=_nothing)
draw_action = by_method("random_action", yes=_draw_action, no=_nothing)
roll = by_method("rollout_action", yes=_roll, no=_nothing)
step_rewards_of = by_method("step_rewards", yes=_step_rewards, no=_nothing)
heuristic_of = by_method("heuristic", yes=_heuristic, no=_nothing)
key_of = by_method("key", yes=_key, no=_no_key)
deal_with = by_method("deal", yes=_deal, no=_nothing)


@compiled
def look(game, states, seen, actions, probabilities, step_rewards, rewards, estimate):
    """Everything that a state says of itself."""
    state = state_at(game, states, 0)
    found = seen[0]
    rng = local_rng(found.rng)
    step_rewards[:] = 0.0
    step_rewards_of(state, step_rewards)
    found.terminal = state.is_terminal()
    found.key = key_of(state)
    found.player = 0
    found.count = 0
    found.drawn = 0
    found.rolled = 0
    rewards[:] = 0.0
    estimate[:] = 0.0
    heuristic_of(state, estimate)
    if found.terminal:
        state.rewards(rewards)
    else:
        found.player = state.current_player()
        if found.player == CHANCE:
            found.count = outcomes_of(state, actions, probabilities)
            found.drawn = draw_outcome(state, rng)
        else:
            found.count = state.legal_actions(actions)
            found.drawn = draw_action(state, rng)
            found.rolled = roll(state, rng)
    found.rng = rng_word(rng)


@compiled
def begin(game, states, word):
    state = state_at(game, states, 0)
    state.reset()
    deal_with(state, local_rng(word))


@compiled
def step(game, states, action):
    state_at(game, states, 0).apply(action)


def arrays(game):
    """What `look` fills after the state and its findings: actions, probabilities, rewards of the step and of the end, an estimate."""
    facts = game.facts
    width = max(facts.num_actions, facts.num_outcomes or 1)
    return [
        np.zeros(width, np.int32),
        np.zeros(width),
        np.zeros(facts.players),
        np.zeros(facts.players),
        np.zeros(facts.players),
    ]


def play_in_both_modes(game, games, seed=0, rolling=False):
    """Play random games (or by `rollout_action`), compare everything in every state, and give each game's whole return and length."""
    engine = game.engine(bounds_checked=True)
    low, high = game.facts.rewards
    keys: dict[int, tuple] = {}
    returns, lengths = [], []
    for index in range(games):
        rng = Rng(mix(seed) ^ mix(index))
        records = np.zeros(1, game.dtype)
        state = game()
        engine.entry(begin)(records, np.uint64(rng.word))
        if game.has("deal"):
            state.deal(Rng.from_word(rng.word))
        total, length = np.zeros(game.facts.players), 0
        while True:
            assert records.tobytes() == state._states.tobytes(), f"{records} compiled, {state._states} interpreted"
            found, values = determinize(engine, game, records, rng)
            assert records.tobytes() == state._states.tobytes(), "a query changed the state"
            compare(game, state, found, values, rng, keys)
            actions, _, step_reward, rewards, estimate = values
            assert np.isfinite(estimate).all()
            assert (low <= estimate).all()
            assert (estimate <= high).all()
            total += step_reward if length else 0.0
            if found["terminal"]:
                total += rewards
                break
            action = (
                int(found["rolled"])
                if rolling and found["player"] != CHANCE
                else int(actions[rng.below(found["count"])])
            )
            state.apply(action)
            engine.entry(step)(records, action)
            length += 1
            assert length <= game.facts.max_length
        assert (low - 1e-9 <= total).all()
        assert (total <= high + 1e-9).all()
        returns.append(total)
        lengths.append(length)
    return np.array(returns), np.array(lengths)


def determinize(engine, game, records, rng):
    found = np.zeros(1, SEEN)
    found["rng"] = rng.word
    values = arrays(game)
    engine.entry(look)(records, found, *values)
    return found[0], values


def compare(game, state, found, values, rng, keys):
    """The interpreted state against what the compiled one said, and each promise that one state can keep or break."""
    actions, probabilities, step_reward, rewards, estimate = values
    plain = Rng.from_word(rng.word)
    own_actions, own_probabilities, own_steps, own_rewards, own_estimate = arrays(game)
    if game.has("step_rewards"):
        state.step_rewards(own_steps)
    if game.has("heuristic"):
        state.heuristic(own_estimate)
    assert np.array_equal(own_steps, step_reward)
    assert np.array_equal(own_estimate, estimate)
    assert bool(state.is_terminal()) == found["terminal"]
    if found["terminal"]:
        state.rewards(own_rewards)
        assert np.array_equal(own_rewards, rewards)
        return
    count = int(found["count"])
    assert int(state.current_player()) == found["player"]
    assert count > 0
    if found["player"] == CHANCE:
        assert state.chance_outcomes(own_actions, own_probabilities) == count
        assert abs(own_probabilities[:count].sum() - 1.0) < 1e-9
        assert (own_probabilities[:count] > 0.0).all()
        top = game.facts.num_outcomes
        drawn = state.random_outcome(plain) if game.has("random_outcome") else 0
        drawing = game.has("random_outcome")
    else:
        assert state.legal_actions(own_actions) == count
        top = game.facts.num_actions
        drawn = state.random_action(plain) if game.has("random_action") else 0
        drawing = game.has("random_action")
        if game.has("rollout_action"):
            rolled = state.rollout_action(plain)
            assert int(rolled) == found["rolled"]
            assert rolled in own_actions[:count]
    listed = [int(action) for action in actions[:count]]
    assert listed == [int(action) for action in own_actions[:count]]
    assert np.array_equal(own_probabilities, probabilities)
    assert len(set(listed)) == count
    assert min(listed) >= 0
    assert max(listed) < top
    assert int(drawn) == found["drawn"]
    assert not drawing or drawn in listed
    assert plain.word == int(found["rng"])
    if game.has("key"):
        assert np.uint64(int(state.key())) == found["key"]
        shown = (int(found["player"]), tuple(listed), tuple(probabilities[:count]))
        assert keys.setdefault(int(found["key"]), shown) == shown
    for action in listed[:3]:
        place = Position(game, state._states)
        text = place.move_text(action)
        assert not set(text) & set(" ,;\n")
        assert place.parse_move(text) == action
        assert place.parse_move(text.upper()) == action
    assert state.render()


def frequencies(game, state, method, draws, seed=0):
    """How often each action or outcome is drawn, interpreted."""
    rng = Rng(seed)
    tally = np.zeros(max(game.facts.num_actions, game.facts.num_outcomes or 1))
    for _ in range(draws):
        tally[getattr(state, method)(rng)] += 1
    return tally / draws
