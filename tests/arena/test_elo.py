from __future__ import annotations

import json
import math

import numpy as np
import pytest

from treetop.arena.elo import NORMALIZED, elo_of, rate, score_of
from treetop.errors import ConfigError


def test_elo_and_score_are_inverse():
    for elo in (-800.0, -191.0, -3.5, 0.0, 12.0, 400.0):
        assert elo_of(score_of(elo)) == pytest.approx(elo, abs=1e-9)
    assert score_of(400) == pytest.approx(10 / 11)
    assert score_of(math.inf) == 1.0
    assert score_of(-math.inf) == 0.0
    assert (elo_of(0.0), elo_of(1.0)) == (-math.inf, math.inf)
    with pytest.raises(ConfigError, match="from 0 to 1"):
        elo_of(1.2)


def test_the_interval_is_the_textbook_one_where_there_are_many_pairs():
    counts = (700, 2500, 4000, 2900, 900)
    scores, pairs = np.repeat([0, 0.25, 0.5, 0.75, 1], counts), sum(counts)
    error = 1.959964 * scores.std() / math.sqrt(pairs)
    rating = rate(counts)
    assert rating.score.value == pytest.approx(scores.mean())
    assert rating.score.low == pytest.approx(scores.mean() - error, abs=1e-5)
    assert rating.score.high == pytest.approx(scores.mean() + error, abs=1e-5)
    assert rating.elo.low == pytest.approx(elo_of(rating.score.low))
    t = (scores.mean() - 0.5) / scores.std() / math.sqrt(2)
    assert rating.normalized_elo.value == pytest.approx(t * NORMALIZED, rel=1e-3)
    assert rating.normalized_elo.high - rating.normalized_elo.low == pytest.approx(
        2 * 1.96 * NORMALIZED / math.sqrt(2 * pairs), rel=2e-2
    )


def test_pairs_make_the_interval_narrower_where_openings_decide():
    """One game each, whoever begins wins: as single games a coin, as pairs no variance at all."""
    even = rate((0, 0, 500, 0, 0))
    coins = rate((125, 0, 250, 0, 125))
    assert even.elo.high < 2
    assert coins.elo.high > 10


def test_a_perfect_score_is_infinite_above_and_finite_below():
    rating = rate((0, 0, 0, 0, 20))
    assert rating.elo.value == rating.elo.high == rating.normalized_elo.value == math.inf
    assert 200 < rating.elo.low < 400
    assert rating.elo.signed().startswith("+inf (+")
    assert rating.elo.signed().endswith(" to +inf)")
    reported = rating.to_dict()
    assert reported["elo"]["value"] is reported["elo"]["high"] is None
    json.dumps(reported, allow_nan=False)
    mirrored = rate((20, 0, 0, 0, 0))
    assert mirrored.elo.low == -math.inf
    assert mirrored.elo.high == pytest.approx(-rating.elo.low)


def test_few_games_say_little():
    one = rate((0, 0, 0, 0, 1))
    assert one.elo.low < -200
    assert one.superiority < 0.9
    drawn = rate((0, 0, 1, 0, 0))
    assert drawn.elo.low < -200
    assert drawn.elo.high > 200
    nothing = rate((0, 0, 0, 0, 0))
    assert (nothing.elo.low, nothing.elo.value, nothing.elo.high) == (-math.inf, 0.0, math.inf)
    assert nothing.superiority == 0.5


def test_swapping_the_players_mirrors_everything():
    rating, mirrored = rate((3, 9, 20, 14, 7)), rate((7, 14, 20, 9, 3))
    assert mirrored.elo.value == pytest.approx(-rating.elo.value)
    assert mirrored.elo.low == pytest.approx(-rating.elo.high)
    assert mirrored.normalized_elo.high == pytest.approx(-rating.normalized_elo.low)
    assert mirrored.superiority == pytest.approx(1 - rating.superiority)
    assert 0.5 < rating.superiority < 1


@pytest.mark.parametrize(
    ("pairs", "chances"),
    [(6, (0.1, 0.2, 0.4, 0.2, 0.1)), (12, (0.02, 0.08, 0.3, 0.3, 0.3)), (40, (0.3, 0, 0.4, 0, 0.3))],
)
def test_the_interval_holds_the_truth_about_95_times_of_100(pairs, chances):
    truth = float(np.dot(chances, (0, 0.25, 0.5, 0.75, 1)))
    drawn = np.random.default_rng(7).multinomial(pairs, chances, size=3000)
    ratings = [rate([int(count) for count in counts]).score for counts in drawn]
    assert 0.925 <= np.mean([rating.low <= truth <= rating.high for rating in ratings]) <= 0.99


def test_what_is_no_pentanomial_is_refused():
    for wrong in ((1, 2, 3), (1, 2, 3, 4, -5), (1.5, 0, 0, 0, 0)):
        with pytest.raises(ConfigError, match="five counts of pairs"):
            rate(wrong)  # type: ignore[arg-type]
