"""Test suites of positions: which a player solves."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.arena import solve_suite
from treetop.errors import PlayerError
from treetop.records import parse_epd

MATES = """6k1/5ppp/8/8/8/8/8/R3K3 w Q - bm Ra8; id "back rank";
r3k3/8/8/8/8/8/5PPP/6K1 b q - bm Ra1; id "other side";
6k1/5ppp/8/8/8/8/8/R3K3 w Q - am Ra8; id "avoid";
"""


class Fails(tt.players.BasePlayer):
    def choose(self, position):
        raise PlayerError("no answer")


class Cheats(tt.players.BasePlayer):
    def choose(self, position):
        return -1


def suite():
    return list(parse_epd(MATES))


def test_positions_are_solved_by_a_best_move_or_by_none_to_avoid(tmp_path):
    (tmp_path / "mates.epd").write_text(MATES)
    reports = []
    result = solve_suite(tmp_path / "mates.epd", "greedy", progress=lambda done, solved: reports.append((done, solved)))
    assert [(row.name, row.move, row.solved) for row in result.rows] == [
        ("back rank", "Ra8#", True), ("other side", "Ra1#", True), ("avoid", "Ra8#", False),
    ]  # fmt: skip
    assert reports == [(1, 1), (2, 2), (3, 2)]
    assert result.share.value == pytest.approx(2 / 3)
    assert result.to_dict()["rows"][2]["wanted"] == "not Ra8#"


def test_equal_seeds_give_equal_moves():
    first, again, other = (solve_suite(suite() * 5, "random", seed=seed) for seed in (1, 1, 2))
    moves = [[row.move for row in result.rows] for result in (first, again, other)]
    assert moves[0] == moves[1] != moves[2]


@pytest.mark.parametrize(("player", "reason"), [(Fails, "no answer"), (Cheats, "played -1, which is not legal")])
def test_a_player_without_a_legal_move_solves_nothing(player, reason):
    result = solve_suite(suite(), "x", make_player=lambda spec, game: player(spec))
    assert result.solved == 0
    assert result.rows[0].reason == reason
    assert reason in str(result)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no position"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - ce 3;", "line 1: it has neither best moves"),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - am Kh8;", "'Kh8' is not a legal move|the game is over"),
    ],
)
def test_suites_without_a_question_are_refused(text, message):
    with pytest.raises(tt.TreetopError, match=message):
        solve_suite(parse_epd(text), "random")
