"""The networks that come with Treetop, against exact values."""

from __future__ import annotations

from pathlib import Path

import pytest

import treetop as tt

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install -e '.[onnx]'")
pytest.importorskip("safetensors", reason="needs safetensors: pip install -e '.[onnx]'")

from treetop.errors import ConfigError, UnknownGameError
from treetop.evaluators.networks.model import bundled_networks, load_model

LABELS = Path(__file__).resolve().parents[1] / "golden" / "connect_four_labels.txt"


def chosen(game, positions, simulations, config):
    """Return the actions that searches with the bundled network choose."""
    pool = tt.SearchPool(
        game, config.for_play(), slots=len(positions), evaluator=load_model("bundled", game=game), seed=1
    )
    for slot, position in enumerate(positions):
        pool.replace(slot, position)
    pool.run(simulations=simulations)
    return pool.results().actions.tolist()


def exact_values(position, found):
    """Return the value of a position of tic-tac-toe for X; add all positions below it with the values of their moves."""
    key = position.record.tobytes()
    if key not in found:
        if position.is_terminal:
            found[key] = position.rewards[0], position, {}
        else:
            values = {action: exact_values(position.apply(action), found) for action in position.legal_actions()}
            best = max(values.values()) if position.player == 0 else min(values.values())
            found[key] = best, position, values
    return found[key][0]


def test_tic_tac_toe_is_played_perfectly():
    found = {}
    exact_values(tt.position("tic_tac_toe"), found)
    known = [(value, position, values) for value, position, values in found.values() if values]
    actions = chosen("tic_tac_toe", [position for _, position, _ in known], 50, tt.gumbel())
    assert len(known) == 4520
    assert all(values[action] == value for (value, _, values), action in zip(known, actions, strict=True))


def test_connect_four_keeps_the_value_of_most_positions():
    rows = [line.split() for line in LABELS.read_text().splitlines() if not line.startswith("#")]
    known = [(tt.position("connect_four", moves=" ".join(moves)), keep) for moves, _, keep in rows]
    known = [(position, keep) for position, keep in known if len(position.legal_actions()) > len(keep)]
    actions = chosen("connect_four", [position for position, _ in known], 200, tt.puct(1.5, solver=True))
    kept = [str(action + 1) in keep for (_, keep), action in zip(known, actions, strict=True)]
    assert len(kept) > 300
    assert sum(kept) / len(kept) > 0.9


@pytest.mark.parametrize(("opponent", "least"), [("random", 0.9), ("greedy", 0.75)])
def test_othello_of_six_rows_wins_with_few_simulations(opponent, least):
    games = tt.match("net('bundled', simulations=16)", opponent, "othello(size=6)", games=10, seed=1, workers=1)
    assert games.score >= least


def test_networks_are_small_and_say_how_they_were_made():
    folders = bundled_networks()
    assert set(folders) == {"tic_tac_toe", "connect_four", "othello(size=6)"}
    assert sum(file.stat().st_size for folder in folders.values() for file in folder.iterdir()) < 3_000_000
    for name in folders:
        made = load_model(f"bundled:{name}").made
        assert {"iteration", "seconds", "options", "command", "measured"} <= set(made)


def test_a_game_without_a_network_is_refused():
    with pytest.raises(ConfigError, match="no network of nim comes with Treetop"):
        load_model("bundled:nim")
    with pytest.raises(ConfigError, match=r"treetop train 'hex\(size=3\)' --out run$"):
        load_model("bundled:hex(size=3)")
    with pytest.raises(ConfigError, match=r"there is one of othello\(size=6\)"):
        load_model("bundled", game="othello")
    with pytest.raises(ConfigError, match="give the game"):
        load_model("bundled")
    with pytest.raises(UnknownGameError):
        load_model("bundled:os:system")


def test_a_bundled_network_is_a_player():
    result = tt.match("net('bundled', simulations=16)", "random", "tic_tac_toe", games=4, seed=1, workers=1)
    assert result.score > 0.5
