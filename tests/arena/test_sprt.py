"""The sequential test against published values, brute force, theory for small differences, and its own promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treetop.arena.elo import NORMALIZED, PAIR_SCORES, score_of
from treetop.arena.sprt import Model, Sprt, SprtVerdict, likeliest_with_mean, likeliest_with_t_value
from treetop.errors import ConfigError

GOLDEN = [
    ((1721, 77704, 208246, 77189, 1732), -1.75, 0.25, 3.19),
    ((210, 9236, 25655, 9432, 187), -1.75, 0.25, 2.93),
    ((134, 5897, 13530, 6129, 118), -1.75, 0.25, 2.93),
    ((178, 43099, 113790, 42954, 169), -1.75, 0.25, 2.97),
    ((20, 1334, 3810, 1569, 35), 0.0, 2.0, 2.95),
    ((234, 10427, 23159, 10582, 238), -1.75, 0.25, 2.96),
    ((30, 7531, 20411, 7687, 35), -1.75, 0.25, 2.94),
    ((7, 7001, 27083, 7145, 4), -1.75, 0.25, 2.94),
]  # fmt: skip


@pytest.mark.parametrize(("pentanomial", "elo0", "elo1", "llr"), GOLDEN)
def test_published_tests_have_their_published_ratio(pentanomial, elo0, elo1, llr):
    assert f"{Sprt(elo0, elo1).llr(pentanomial):.2f}" == f"{llr:.2f}"


def _likelihood(shares, probabilities):
    return math.fsum(share * math.log(p) for share, p in zip(shares, probabilities, strict=True))


@pytest.mark.parametrize(
    "shares", [(0.2, 0.5, 0.3), (0.05, 0.9, 0.05), (0.45, 0.1, 0.45), (0.01, 0.29, 0.7), (0.7, 0.2, 0.1)]
)
@pytest.mark.parametrize("t", [-0.8, -0.1, 0.02, 0.1, 0.5, 1.5])
def test_no_trinomial_with_the_t_value_is_likelier(shares, t):
    """With three scores a t-value leaves one freedom, the deviation: all of them on a fine grid."""
    deviation = np.linspace(1e-6, 0.5 / math.sqrt(1 + t * t), 400_000)
    above = t * deviation
    decided = 4 * (deviation**2 + above**2)
    lost, won = decided / 2 - above, decided / 2 + above
    grid = np.stack([lost, 1 - decided, won])
    grid = grid[:, (grid > 1e-12).all(axis=0)]
    best = (np.array(shares)[:, None] * np.log(grid)).sum(axis=0).max()
    found = likeliest_with_t_value(shares, t, (0.0, 0.5, 1.0))
    mean = float(np.dot(found, (0, 0.5, 1)))
    assert (mean - 0.5) / math.sqrt(np.dot(found, (np.array((0, 0.5, 1)) - mean) ** 2)) == pytest.approx(t, abs=1e-6)
    assert _likelihood(shares, found) == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize(
    "counts", [(3, 11, 30, 14, 6), (0, 1, 87, 3, 2), (10, 8, 7, 54, 1), (1, 1, 1, 1, 1), (40, 0, 0, 0, 60)]
)
@pytest.mark.parametrize("t", [-0.3, 0.0, 0.05, 0.6])
def test_no_neighbour_of_the_found_pentanomial_is_likelier(counts, t):
    """Walk along the surface of all distributions with the t-value, in random directions: it only gets worse."""
    shares = np.maximum(counts, 1e-3) / np.maximum(counts, 1e-3).sum()
    found = np.array(likeliest_with_t_value([float(share) for share in shares], t))
    scores = np.array(PAIR_SCORES)
    mean = found @ scores
    deviation = math.sqrt(found @ (scores - mean) ** 2)
    assert mean - t * deviation == pytest.approx(0.5, abs=1e-7)
    slope = scores - t * (scores - mean) ** 2 / (2 * deviation)  # of the condition
    rng = np.random.default_rng(3)
    for _ in range(200):
        direction = rng.normal(size=5) * found
        basis = np.linalg.qr(np.stack([np.ones(5), slope]).T)[0]
        direction -= basis @ (basis.T @ direction)
        # To first order the likelihood stands still along the surface.
        assert abs(float(np.sum(shares / found * direction))) < 1e-4 * np.abs(shares / found * direction).sum() + 1e-9


def test_the_likeliest_distribution_with_a_mean_is_known_for_a_coin():
    assert likeliest_with_mean((0.3, 0.7), (0.0, 1.0), 0.25) == pytest.approx([0.75, 0.25])
    assert likeliest_with_mean((0.2, 0.5, 0.3), (0.0, 0.5, 1.0), 0.55) == pytest.approx([0.2, 0.5, 0.3])
    with pytest.raises(ConfigError, match="no distribution"):
        likeliest_with_mean((0.5, 0.5), (0.0, 1.0), 1.5)


def test_for_small_differences_the_ratio_is_that_of_two_normal_distributions():
    counts = (410, 2050, 5000, 2110, 430)
    scores = np.repeat(PAIR_SCORES, counts)
    t, t0, t1 = (scores.mean() - 0.5) / scores.std(), 0.0, 4 / NORMALIZED * math.sqrt(2)
    wanted = sum(counts) * (t1 - t0) * (t - (t0 + t1) / 2)
    assert Sprt(0, 4).llr(counts) == pytest.approx(wanted, abs=2e-3)


def test_in_the_logistic_model_pairs_that_are_won_or_lost_are_coins():
    """Two cells only: the ratio of two coins, up to what empty cells count."""
    lost, won, (p0, p1) = 40, 60, (score_of(0), score_of(50))
    wanted = won * math.log(p1 / p0) + lost * math.log((1 - p1) / (1 - p0))
    assert Sprt(0, 50, model="logistic").llr((lost, 0, 0, 0, won)) == pytest.approx(wanted, abs=1e-2)


def test_swapping_the_players_swaps_the_hypotheses():
    for model in Model:
        there = Sprt(-3, 5, model=model).llr((5, 30, 80, 41, 9))
        back = Sprt(-5, 3, model=model).llr((9, 41, 80, 30, 5))
        assert back == pytest.approx(-there, abs=1e-9)


@pytest.mark.parametrize("model", list(Model))
@pytest.mark.parametrize("bounds", [(0, 5), (-10, 10), (-1.75, 0.25), (-300, 300), (0, 1500), (-2000, 2000)])
def test_whatever_the_pairs_are_the_ratio_is_a_number(model, bounds):
    edges = [tuple(size * (cell == place) for cell in range(5)) for size in (1, 3, 1000) for place in range(5)]
    for counts in [*edges, (0, 0, 0, 0, 0), (1, 0, 0, 0, 1), (0, 500, 0, 500, 0), (1, 0, 99999, 0, 0)]:
        state = Sprt(*bounds, model=model).state(counts)
        assert math.isfinite(state.llr)
        assert all(math.isfinite(bound) for bound in state.other_bounds)
        assert "nan" not in str(state)


def test_one_pair_decides_nothing():
    for place in range(5):
        assert not Sprt(0, 10).state([int(cell == place) for cell in range(5)]).decided


def test_the_verdict_follows_walds_bounds():
    test = Sprt(0, 10, alpha=0.01, beta=0.1)
    assert test.upper == pytest.approx(math.log(90))
    assert test.lower == pytest.approx(math.log(0.1 / 0.99))
    assert test.state((0, 0, 0, 0, 0)).verdict is SprtVerdict.go_on
    assert test.state((100, 1000, 2000, 1500, 300)).verdict is SprtVerdict.accept_h1
    assert test.state((300, 1500, 2000, 1000, 100)).verdict is SprtVerdict.accept_h0
    reported = test.state((100, 1000, 2000, 1500, 300)).to_dict()
    assert reported["verdict"] == "H1"
    assert reported["model"] == "normalized"
    assert len(reported["logistic_bounds"]) == 2


@pytest.mark.parametrize(("true_elo", "wrong"), [(0.0, SprtVerdict.accept_h1), (60.0, SprtVerdict.accept_h0)])
def test_both_errors_stay_near_what_was_promised(true_elo, wrong):
    """Tests of 0 against 60 normalized Elo, each hypothesis being true in turn: about 5% of them err."""
    test, rng = Sprt(0, 60), np.random.default_rng(11)
    chances = likeliest_with_t_value((0.1, 0.25, 0.3, 0.25, 0.1), true_elo / NORMALIZED * math.sqrt(2))
    verdicts = [_run(test, rng.choice(5, p=chances, size=2000)) for _ in range(150)]
    assert verdicts.count(SprtVerdict.go_on) == 0
    assert verdicts.count(wrong) <= 17  # 7.5 are expected; more than 17 would be a case of one in two thousand


def _run(test: Sprt, pairs: np.ndarray) -> SprtVerdict:
    """The verdict, if one looks after every third pair."""
    counts = [0] * 5
    for number, pair in enumerate(pairs):
        counts[pair] += 1
        if number % 3 == 2 and not test.lower < test.llr(counts) < test.upper:
            return test.state(counts).verdict
    return SprtVerdict.go_on


def test_bad_tests_are_refused():
    for arguments, words in (
        ((5, 0), "elo0 must be less"),
        ((0, math.nan), "elo1 must be"),
        ((0, 5000), "elo1 must be"),
    ):
        with pytest.raises(ConfigError, match=words):
            Sprt(*arguments)
    with pytest.raises(ConfigError, match="alpha must be a number above 0 and below 0.5"):
        Sprt(0, 5, alpha=0.7)
    with pytest.raises(ConfigError, match="'normalized' or 'logistic'"):
        Sprt(0, 5, model="linear")
