"""The positions of a run: files that grow by finished games, and a window to draw from."""

from __future__ import annotations

import os
import struct
import zlib

import numpy as np
import pytest

import treetop as tt
from treetop.errors import SaveError
from treetop.train.policies import Policies
from treetop.train.replay import Replay
from treetop.train.samples import Samples

GAME = tt.load_game("tic_tac_toe")


def some(count, seed=1, weights=None):
    rng = np.random.default_rng(seed)
    policies = Policies.of(rng.dirichlet(np.ones(9), count))
    values = rng.uniform(-1, 1, (count, 1)).astype(np.float32)
    states = np.repeat(tt.position(GAME).record, count)
    return Samples(states, policies, values, np.ones(count, np.float32) if weights is None else weights)


def replay(folder, least=1000):
    return Replay(folder, GAME, 1, least)


def test_finished_games_are_on_disk_before_their_iteration_ends(tmp_path):
    first = replay(tmp_path)
    first.write(some(5, 1))
    first.write(some(7, 2))
    again = replay(tmp_path)
    assert (again.total, len(again)) == (12, 12)
    assert again.digest() == first.digest()
    assert (again.draw(np.random.default_rng(1), 50).weights == 1).all()


@pytest.mark.parametrize("cut", [1, 10, 16, 40])
def test_a_game_that_a_crash_cut_off_is_dropped(tmp_path, cut):
    before = replay(tmp_path)
    before.write(some(5))
    path = before.files()[0]
    size = path.stat().st_size
    before.write(some(7))
    path.write_bytes(path.read_bytes()[: size + cut])
    after = replay(tmp_path)
    assert after.total == 5
    after.write(some(3))
    assert replay(tmp_path).total == 8


def frame(content, count):
    packed = zlib.compress(content)
    head = struct.pack("<III", count, len(packed), zlib.crc32(packed))
    return head + struct.pack("<I", zlib.crc32(head)) + packed


STATE = GAME.dtype.itemsize


def position(value=0.0, weight=1.0, actions=(4,), shares=(1.0,), length=None):
    """Return the bytes of one position with its targets."""
    count = len(actions) if length is None else length
    numbers = struct.pack("<ffi", value, weight, count)
    return b"\0" * STATE + numbers + struct.pack(f"<{len(actions)}i{len(shares)}f", *actions, *shares)


def test_a_position_is_read_from_its_bytes():
    found = Samples.from_bytes(position(0.5, 2.0, (1, 3), (0.25, 0.75)), 1, GAME, 1)
    assert found.policies.dense(9).tolist() == [[0, 0.25, 0, 0.75, 0, 0, 0, 0, 0]]
    assert (found.values.tolist(), found.weights.tolist()) == ([[0.5]], [2.0])


@pytest.mark.parametrize(
    "content",
    [
        b"\x93NUMPY" * 10,
        os.urandom(1000),
        frame(b"\0" * 10, 1),
        frame(b"\0" * (2**22), 1),
        frame(b"\0" * 10, 2**31),
        frame(position(float("nan")), 1),
        frame(position(weight=-1.0), 1),
        frame(position(weight=float("inf")), 1),
        frame(position(shares=(-1.0,)), 1),
        frame(position(shares=(5.0,)), 1),
        frame(position(shares=(float("nan"),)), 1),
        frame(position(actions=(9,)), 1),
        frame(position(actions=(-1,)), 1),
        frame(position(length=-1), 1),
        frame(position(length=2**31 - 1), 1),
        frame(position(length=2), 1),
        frame(position(), 1)[:-1] + b"!",
    ],
    ids=[
        *("another format", "noise", "too short", "bomb", "claim", "NaN", "negative weight", "infinite weight"),
        *("negative share", "share above 1", "share NaN", "no such action", "negative action", "negative length"),
        *("huge length", "wrong length", "flipped byte"),
    ],
)
def test_damaged_positions_are_refused(tmp_path, content):
    (tmp_path / "000000.games").write_bytes(content)
    with pytest.raises(SaveError, match="holds no positions of tic_tac_toe"):
        replay(tmp_path)


def test_policies_take_the_place_of_their_actions_only(tmp_path):
    chess, rng = tt.load_game("chess"), np.random.default_rng(1)
    policies = Policies.from_lengths([30] * 100, np.tile(np.arange(0, 4672, 150)[:30], 100), np.full(3000, 1 / 30))
    samples = Samples(np.repeat(tt.position(chess).record, 100), policies, np.zeros((100, 1), np.float32),
                      np.ones(100, np.float32))  # fmt: skip
    assert len(samples.to_bytes()) < 100 * (chess.dtype.itemsize + 500)
    found = Replay(tmp_path, chess, 1, 1000)
    found.write(samples)
    again = Replay(tmp_path, chess, 1, 1000)
    assert again.digest() == found.digest()
    drawn = again.draw(rng, 20).policies
    assert drawn.dense(4672).sum(axis=1) == pytest.approx(np.ones(20), abs=1e-5)


def test_rows_of_policies_are_those_of_the_dense_array():
    rng = np.random.default_rng(1)
    dense = rng.dirichlet(np.ones(9), 20).astype(np.float32) * (rng.random((20, 9)) < 0.5)
    dense[3] = 0.0
    policies = Policies.of(dense)
    chosen = rng.integers(0, 20, 50)
    assert (policies.rows(chosen).dense(9) == dense[chosen]).all()
    assert (policies.rows(slice(2, 9)).dense(9) == dense[2:9]).all()
    assert (policies.rows(np.zeros(0, int)).dense(9) == np.zeros((0, 9))).all()
    places = np.stack([rng.permutation(9) for _ in range(20)])
    expected = np.zeros_like(dense)
    np.put_along_axis(expected, places, dense, axis=1)
    assert (policies.dense(9, places) == expected).all()


def test_positions_of_another_game_are_refused(tmp_path):
    replay(tmp_path).write(some(5))
    with pytest.raises(SaveError, match="holds no positions of connect_four"):
        Replay(tmp_path, tt.load_game("connect_four"), 1, 1000)


def test_a_full_disk_is_an_error_and_keeps_what_was_written(tmp_path, monkeypatch):
    found = replay(tmp_path)
    found.write(some(5))
    path = found.files()[0]
    opened = type(path).open

    def small(self, *arguments, **options):
        file = opened(self, *arguments, **options)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                file.close()

            def write(self, content):
                return file.write(content[:20])

            def __getattr__(self, name):
                return getattr(file, name)

        return Full()

    with monkeypatch.context() as patch:
        patch.setattr(type(path), "open", small)
        with pytest.raises(SaveError, match="No space left"):
            found.write(some(7))
    found.write(some(2))
    assert replay(tmp_path).total == 7


def test_positions_are_drawn_by_their_weights(tmp_path):
    found = replay(tmp_path)
    samples = some(4, weights=np.array([0.0, 1.0, 3.0, 0.0], np.float32))
    found.keep(samples)
    drawn = found.draw(np.random.default_rng(1), 4000).values[:, 0]
    shares = [(drawn == value).mean() for value in samples.values[:, 0]]
    assert shares == pytest.approx([0.0, 0.25, 0.75, 0.0], abs=0.03)


def test_a_window_grows_with_the_root_of_the_positions(tmp_path):
    found = replay(tmp_path, least=100)
    for seed in range(20):
        found.keep(some(50, seed))
    assert found.total == 1000
    assert found.window == int(2 * (100 * 1000) ** 0.5)
    assert found.window <= len(found) < found.window + 50


def test_what_came_after_a_checkpoint_can_be_dropped(tmp_path):
    found = replay(tmp_path)
    for seed in range(3):
        found.write(some(10, seed))
        found.keep(some(10, seed))
    found.drop_after(20)
    assert (found.total, len(found), len(found.files())) == (20, 20, 2)


def test_large_sets_of_positions_are_written_in_frames_that_can_be_read(tmp_path, monkeypatch):
    from treetop.train import replay as module

    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    Replay(tmp_path, GAME, 1, 1000).write(some(50))
    assert Replay(tmp_path, GAME, 1, 1000).total == 50
