from __future__ import annotations

import math

import pytest

from treetop.errors import ConfigError
from treetop.prove.prover import Goal, Suggestion
from treetop.prove.providers import Combined, FilteredProvider, FixedProvider, by_probability, check_ranking, is_easy

GOAL = Goal("|- True")


class Long:
    """Knows many tactics and shows a few."""

    name = "long"

    def __init__(self, tactics: list[str], shown: int) -> None:
        self._all = [Suggestion(tactic, 1.0 / (1 + place)) for place, tactic in enumerate(tactics)]
        self._shown = shown

    def suggest(self, goal: Goal) -> list[Suggestion]:
        return self._all[: self._shown]

    def suggest_more(self, goal: Goal, count: int) -> list[Suggestion]:
        return self._all[:count]


@pytest.mark.parametrize("tactic", [
    "auto", "auto.", "eauto with arith", "intros; auto", "try lia", "now apply f", "destruct x; [ auto | simpl ]", "assert (x = y) by lia",
    "repeat (split; easy)", "induction n;firstorder", "(tauto)", "auto using foo", "intuition (subst; reflexivity)", "do 3 trivial", "by []", "apply f; by []",
    "rewrite f //", "solve [reflexivity|congruence]", "first [ lia | idtac ]", "sauto lq: on", "auto*"])  # fmt: skip
def test_an_easy_tactic_is_found_wherever_it_stands(tactic):
    assert is_easy(tactic)


@pytest.mark.parametrize("tactic", [
    "apply auto_spec", "apply Nat.easy_lemma", "apply trivial_fact", "rewrite lia'", "apply my.auto", "apply auto.spec", "idtac \"auto\"", "intros (* auto *) x",
    "assert (x = y) by reflexivity", "apply field_simplify_lemma", "intros autos", "destruct ringo", "exact I", ""])  # fmt: skip
def test_a_name_that_only_contains_an_easy_word_is_not_easy(tactic):
    assert not is_easy(tactic)


def test_a_fixed_provider_says_the_same_everywhere():
    provider = FixedProvider([("intros", 0.5), ("auto", 0.25)])
    assert provider.suggest(GOAL) == [Suggestion("intros", 0.5), Suggestion("auto", 0.25)]
    provider.suggest(GOAL).clear()
    assert len(provider.suggest(GOAL)) == 2


@pytest.mark.parametrize("probability", [math.nan, math.inf, -0.1, "high", True])
def test_a_probability_that_is_no_weight_is_an_error(probability):
    with pytest.raises(ConfigError, match="number of at least 0"):
        FixedProvider([("intros", probability)])


def test_a_tactic_twice_in_a_fixed_list_is_an_error():
    with pytest.raises(ConfigError, match="twice"):
        FixedProvider([("intros", 0.5), ("intros", 0.25)])


def test_a_filter_asks_for_more_so_that_the_number_stays():
    provider = FilteredProvider(Long(["auto", "split", "lia", "easy", "left", "right", "intros"], shown=3))
    assert [pair.tactic for pair in provider.suggest(GOAL)] == ["split", "left", "right"]
    assert provider.blocked == {"auto": 1, "lia": 1, "easy": 1}
    provider.suggest(GOAL)
    assert provider.blocked["auto"] == 2


def test_a_filter_stops_asking_when_there_is_no_more():
    provider = FilteredProvider(Long(["auto", "split", "lia"], shown=3))
    assert [pair.tactic for pair in provider.suggest(GOAL)] == ["split"]


def test_a_filter_over_a_fixed_list_just_filters():
    provider = FilteredProvider(FixedProvider([("auto", 0.9), ("split", 0.1)]))
    assert provider.suggest(GOAL) == [Suggestion("split", 0.1)]


def test_a_filter_blocks_what_it_is_given():
    provider = FilteredProvider(
        FixedProvider([("auto", 0.9), ("split", 0.1)]), blocked=lambda tactic: tactic == "split"
    )
    assert provider.suggest(GOAL) == [Suggestion("auto", 0.9)]
    assert provider.blocked == {"split": 1}


def test_sorting_by_probability_is_stable():
    pairs = [Suggestion("a", 0.1), Suggestion("b", 0.3), Suggestion("c", 0.1), Suggestion("d", 0.3)]
    assert [pair.tactic for pair in by_probability(pairs)] == ["b", "d", "a", "c"]


PAIRS = [Suggestion("b", 0.3), Suggestion("a", 0.1)]


@pytest.mark.parametrize(("ranker", "message"), [
    (lambda pairs: pairs[:1], "missing: `a`"),
    (lambda pairs: [*pairs, Suggestion("c", 0.5)], "added: `c`"),
    (lambda pairs: [pairs[0], pairs[0]], "missing: `a` .*added: `b`"),
    (lambda pairs: [Suggestion(pair.tactic, 0.5) for pair in pairs], "added: `b` \\(0.5\\)")])  # fmt: skip
def test_a_ranker_that_does_more_than_order_is_an_error_that_says_what_it_did(ranker, message):
    with pytest.raises(ValueError, match=message):
        check_ranking(PAIRS, ranker(PAIRS))


def test_a_ranking_counts_how_often_a_pair_stands():
    pair = Suggestion("a", 0.1)
    check_ranking([pair, pair], [pair, pair])
    with pytest.raises(ConfigError, match="missing: `a`"):
        check_ranking([pair, pair], [pair])


def test_combined_providers_give_each_tactic_once_with_its_highest_weight():
    provider = Combined([FixedProvider([("a", 0.5), ("b", 0.4)]), FixedProvider([("a", 0.9), ("c", 0.1)])], [1.0, 0.5])
    assert provider.suggest(GOAL) == [Suggestion("a", 0.5), Suggestion("b", 0.4), Suggestion("c", 0.05)]


def test_combined_providers_pass_on_the_wish_for_more():
    provider = FilteredProvider(Combined([Long(["auto", "split", "left"], shown=1), FixedProvider([("right", 0.1)])]))
    assert [pair.tactic for pair in provider.suggest(GOAL)] == ["split", "left"]


def test_weights_must_fit_the_providers():
    with pytest.raises(ConfigError, match="one weight for each provider"):
        Combined([FixedProvider([])], [1.0, 2.0])
    with pytest.raises(ConfigError, match="finite"):
        Combined([FixedProvider([])], [math.inf])
