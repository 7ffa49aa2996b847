"""Networks: equal in PyTorch and in ONNX, and safe on disk."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import treetop as tt

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install -e '.[onnx]'")
pytest.importorskip("safetensors", reason="needs safetensors: pip install -e '.[onnx]'")

from treetop.errors import ConfigError, SaveError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model, load_model

GAMES = ["connect_four", "pig", "nim_three", "othello(size=6)", "blackjack", "xiangqi"]


def arbitrary(game="tic_tac_toe", size="tiny"):
    return Model.untrained(tt.load_game(game), size, seed=1)


@pytest.mark.parametrize(
    ("game", "outcomes"), [*((game, False) for game in GAMES), ("connect_four", True), ("othello(size=6)", True)]
)
def test_onnx_gives_what_pytorch_gives(game, outcomes):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")
    from treetop.evaluators.networks.places import policy_places
    from treetop.train.network import folded, make_module

    known = tt.load_game(game)
    architecture = Architecture.of(known, "small", outcomes=outcomes)
    module = make_module(architecture, 1, places=policy_places(known))
    with torch.no_grad():
        for name, array in [*module.named_parameters(), *module.named_buffers()]:
            if array.dtype.is_floating_point:
                array.copy_(
                    torch.rand_like(array) + 0.5 if name.endswith("running_var") else torch.randn_like(array) * 0.2
                )
    module.eval()
    mean, spread = np.full(architecture.values, 3.0), np.full(architecture.values, 2.0)
    model = Model(known, architecture, folded(architecture, module, mean, spread))
    observed = np.random.default_rng(1).random((7, *architecture.observation)).astype(np.float32)
    with torch.no_grad():
        logits, values = module(torch.from_numpy(observed))
    if outcomes:
        shares = torch.softmax(values, dim=1)
        values = shares[:, :1] - shares[:, 2:]
    if architecture.head == "linear":
        values = values * 2.0 + 3.0
    if architecture.head == "tanh":
        values = torch.tanh(values)
    mine = model.run(observed)
    assert np.abs(mine[0] - logits.numpy()).max() < 1e-4
    assert np.abs(mine[1] - values.numpy()).max() < 1e-4


def test_a_saved_network_is_the_same_after_a_load(tmp_path):
    model = arbitrary("connect_four", "small")
    model.save(tmp_path)
    loaded = load_model(tmp_path)
    observed = np.random.default_rng(1).random((3, 3, 6, 7)).astype(np.float32)
    assert all((one == other).all() for one, other in zip(model.run(observed), loaded.run(observed), strict=True))
    assert loaded.made == {"seed": 1}


@pytest.mark.parametrize("game", GAMES)
def test_values_of_a_network_lie_in_the_range_of_the_game(game):
    known, model = tt.load_game(game), arbitrary(game)
    position = tt.position(game)
    position = position if position.player >= 0 else position.resolve_chance(1)
    search = tt.Search(position, tt.puct(), evaluator=model, seed=1)
    result = search.run(tt.Limit(simulations=40))
    low, high = known.facts.value_range(step_rewards=known.has("step_rewards"))
    assert low <= result.value <= high
    assert model.throughput.positions > 0


def test_values_by_player_belong_to_the_players_in_turn():
    model = arbitrary("nim_three")
    seen = np.array([[0.5, -0.5, 0.0], [1.0, 0.0, -1.0]], np.float32)
    low, high = model.game.facts.rewards
    by_player = 2.0 * (model.scaled(seen, np.array([0, 2])) - low) / (high - low) - 1.0
    assert np.allclose(by_player, [[0.5, -0.5, 0.0], [0.0, -1.0, 1.0]])


def test_a_network_of_another_game_is_refused(tmp_path):
    arbitrary("tic_tac_toe").save(tmp_path)
    with pytest.raises(SaveError, match="other rules than those of connect_four"):
        load_model(tmp_path, game="connect_four")


def test_a_network_of_changed_rules_is_refused(tmp_path):
    arbitrary("nim").save(tmp_path)
    with pytest.raises(SaveError, match="train it again"):
        load_model(tmp_path, game="nim(stones=9)")


def test_a_manifest_names_bundled_games_only(tmp_path):
    arbitrary().save(tmp_path)
    manifest = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(manifest | {"game": "os:system"}))
    with pytest.raises(tt.TreetopError):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: raw[:-4], "not a file of weights"),
        (lambda raw: raw[:100], "bytes"),
        (lambda raw: raw + b"\0" * 2_000_000, "bytes"),
        (lambda raw: struct.pack("<Q", 2**62) + raw[8:], "not a file of weights"),
        (lambda raw: raw[:8] + b"{" * 40 + raw[48:], "not a file of weights"),
        (lambda raw: raw.replace(b"stem.bias", b"stem.sail"), "missing or unknown"),
        (lambda raw: raw[:-4] + struct.pack("<f", float("nan")), "not finite"),
    ],
    ids=["truncated", "short", "too long", "huge header", "broken header", "other names", "NaN"],
)
def test_damaged_weights_are_refused(tmp_path, change, message):
    arbitrary().save(tmp_path)
    file = tmp_path / "model.safetensors"
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(SaveError, match=message):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"kind": "a network"}', b"\xff\xfe", b'{"kind": "a network", "version": 99}', b"[" * 100_000],
)
def test_damaged_manifests_are_refused(tmp_path, content):
    arbitrary().save(tmp_path)
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(SaveError):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "change", [{"width": 0}, {"width": 10**9}, {"kind": "magic"}, {"observation": [3, 3]}, {"values": "1"}, {"more": 1}]
)
def test_wrong_architectures_are_refused(tmp_path, change):
    arbitrary().save(tmp_path)
    manifest = json.loads((tmp_path / "model.json").read_text())
    manifest["architecture"] |= change
    (tmp_path / "model.json").write_text(json.dumps(manifest))
    with pytest.raises(tt.TreetopError):
        load_model(tmp_path)


def test_a_network_plays(tmp_path):
    arbitrary().save(tmp_path)
    result = tt.match(f"net({str(tmp_path)!r}, simulations=16)", "random", "tic_tac_toe", games=4, seed=1, workers=1)
    assert result.games == 4
    with pytest.raises(ConfigError, match="needs its folder first"):
        tt.match("net", "random", "tic_tac_toe", games=2, workers=1)


@tt.game(players=2, num_actions=2, max_length=4, rewards=(-4, 4), observation_shape=(5,))
class Coins:
    """Take one or no coin from the other player on each of four moves."""

    moves: int = tt.field("i1")
    took: int = tt.field("i1")

    def reset(self):
        self.moves = 0
        self.took = 0

    def current_player(self):
        return self.moves % 2

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2

    def apply(self, action):
        self.took = action
        self.moves += 1

    def is_terminal(self):
        return self.moves == 4

    def rewards(self, out):
        out[0] = 0.0
        out[1] = 0.0

    def step_rewards(self, out):
        taker = (self.moves - 1) % 2
        out[taker] = self.took
        out[1 - taker] = -self.took

    def observe(self, player, out):
        out[self.moves] = 1.0


@pytest.mark.parametrize("game", ["connect_four", "pig", "immediate rewards"])
def test_the_search_of_a_network_works_in_every_kind_of_game(game):
    from treetop.players.net import net_search

    known = tt.load_game(Coins if game == "immediate rewards" else game)
    evaluator = Model.untrained(known, "tiny")
    for simulations in (32, 65, None):
        config = net_search(known, simulations)
        assert tt.search(known, config, evaluator=evaluator, simulations=4, seed=1).simulations > 0
