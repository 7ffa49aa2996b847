"""The search for proofs: policies, contracts, limits, traces; on theorems whose logic stands in a table."""

from __future__ import annotations

import json
import random

import pytest

from tests.prove.toy import Table, TableProver, TableProvider, TableTheorem
from treetop.errors import ConfigError
from treetop.prove.config import BACKUPS, POLICIES, SUBGOALS, ProofConfig
from treetop.prove.graph import Status
from treetop.prove.prover import Attempt, Goal, Suggestion
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

LIMIT = Limit(calls=2000)

SMALL: Table = {
    "A": {"circle": ("B",), "fail": None, "split": ("C", "D")},
    "B": {"back": ("A",)},
    "C": {"fail": None, "close": ()},
    "D": {"again": ("C", "E"), "long": ("B", "C")},
    "E": {"close": ()},
}
HOPELESS: Table = {"A": {"t": ("B",), "u": ("C", "B")}, "B": {"back": ("A",), "fail": None}, "C": {"close": ()}}


def run(table: Table, limit: Limit = LIMIT, seed: int | None = 1, **options):
    hooks = {
        name: options.pop(name) for name in ("provider", "ranker", "tie_break", "evaluate", "trace") if name in options
    }
    with ProofSearch(TableTheorem(table), ProofConfig(**options), seed=seed, **hooks) as search:
        return search.run(limit)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("width", [1, 2, None])
def test_every_policy_proves_what_can_be_proved(policy, width):
    result = run(SMALL, policy=policy, width=width)
    assert result.status == "proved"
    assert result.script == "split close again close close"
    assert result.verdict is not None
    assert result.verdict.checker == "table"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_comes_to_an_end_where_nothing_can_be_proved(policy):
    result = run(HOPELESS, policy=policy)
    assert result.status == "exhausted"
    assert not result.proved
    assert result.script == ""


@pytest.mark.parametrize("seed", range(60))
def test_random_tables_are_decided_as_by_exhaustion(seed):
    chance = random.Random(seed)
    table = random_table(chance)
    provable = provable_goals(table)
    config = ProofConfig(
        policy=chance.choice(POLICIES),
        backup=chance.choice(BACKUPS),
        subgoals=chance.choice(SUBGOALS),
        width=chance.choice([1, 2, None]),
        widening=chance.choice([None, (1.0, 0.5)]),
        c=chance.choice([0.0, 0.5, 2.0]),
    )
    with ProofSearch(TableTheorem(table), config, seed=seed) as search:
        result = search.run(Limit(calls=5000))
    assert result.status == ("proved" if "A" in provable else "exhausted"), config
    for goal in result.graph.goals:
        assert goal.status is not Status.proved or goal.goal.key in provable
        assert goal.status is not Status.dead or goal.goal.key not in provable


def random_table(chance: random.Random) -> Table:
    names = "ABCDEFGHIJ"[: chance.randint(3, 10)]
    table: Table = {}
    for name in names:
        table[name] = {}
        for index in range(chance.randint(0, 4)):
            kind = chance.random()
            table[name][f"t{index}"] = (
                None
                if kind < 0.3
                else ()
                if kind < 0.4
                else tuple(chance.choice(names) for _ in range(chance.randint(1, 3)))
            )
    return table


def provable_goals(table: Table) -> set[str]:
    found: set[str] = set()
    while True:
        more = {
            name
            for name, tactics in table.items()
            if any(subgoals is not None and set(subgoals) <= found for subgoals in tactics.values())
        }
        if more == found:
            return found
        found = more


def test_steps_that_are_not_needed_are_left_out():
    """`simplify` comes first and works, but `close` would have worked at once."""
    table: Table = {"A": {"simplify": ("B",), "close": ()}, "B": {"close": ()}}

    class OnlyAtB(TableProvider):
        def suggest(self, goal: Goal) -> list[Suggestion]:
            return [pair for pair in super().suggest(goal) if (goal.key, pair.tactic) != ("A", "close")]

    assert run(table, provider=OnlyAtB(table)).script == "close"


def test_a_proof_that_the_checker_refuses_is_not_reported_as_a_proof():
    class Liar(TableTheorem):
        def open(self):
            lying = dict(self.table)
            lying["C"] = {"fail": ()}
            return TableProver(lying, self.root)

    table: Table = {"A": {"t": ("C",)}, "C": {"fail": None}}
    with ProofSearch(Liar(table)) as search:
        result = search.run(LIMIT)
    assert result.status == "refused"
    assert result.proof is None
    assert result.script == ""
    assert "refused" in result.summary()


def test_blind_uniform_needs_a_seed():
    with pytest.raises(ValueError, match="seed"):
        run(SMALL, policy="blind_uniform", seed=None)


def test_an_unknown_policy_is_refused_and_the_known_ones_are_named():
    with pytest.raises(ValueError, match="blind_uniform"):
        ProofConfig(policy="uct")


def test_without_a_seed_a_search_is_deterministic_and_takes_the_first_of_equals():
    first, second = (traced(SMALL, policy="ucb1", seed=None) for _ in range(2))
    assert first == second


def traced(table: Table, **options):
    events: list[dict] = []
    run(table, trace=events.append, **options)
    return [{key: value for key, value in event.items() if key != "seconds"} for event in events]


@pytest.mark.parametrize("policy", POLICIES)
def test_equal_seeds_give_equal_searches(policy):
    chance = random.Random(5)
    table = random_table(chance)
    assert traced(table, policy=policy, seed=7) == traced(table, policy=policy, seed=7)


def test_blind_uniform_draws_every_open_goal_as_often_and_ignores_probabilities():
    """After the theorem's one tactic four goals are open; which is taken next is uniform, and so is the tactic that is tried there."""
    table: Table = {"A": {"t": ("B", "C", "D", "E")}, **{name: {"x": None, "y": None, "z": None} for name in "BCDE"}}
    seen: dict[tuple[str, str], int] = {}
    for seed in range(600):
        with ProofSearch(TableTheorem(table), ProofConfig(policy="blind_uniform"), seed=seed) as search:
            search.run(Limit(calls=2))
            prover = search._prover
            assert isinstance(prover, TableProver)
            seen[prover.asked[1]] = seen.get(prover.asked[1], 0) + 1
    assert len(seen) == 12
    assert all(25 <= count <= 80 for count in seen.values()), seen  # 50 expected, standard deviation 7


def test_blind_uniform_asks_no_ranker():
    def ranker(goal: Goal, suggestions: list[Suggestion]) -> list[Suggestion]:
        raise AssertionError

    assert run(SMALL, policy="blind_uniform", ranker=ranker).proved


def test_tactics_are_tried_by_probability_and_equals_in_the_providers_order():
    table: Table = {"A": {"x": None, "y": None, "z": None}}

    class Equals:
        name = "equals"

        def suggest(self, goal: Goal) -> list[Suggestion]:
            return [Suggestion("x", 0.2), Suggestion("y", 0.5), Suggestion("z", 0.2)]

    with ProofSearch(TableTheorem(table), provider=Equals()) as search:
        search.run(LIMIT)
        assert [tactic.tactic for tactic in search.graph.root.tactics] == ["y", "x", "z"]


def test_a_ranker_may_reorder():
    def backwards(goal: Goal, suggestions: list[Suggestion]) -> list[Suggestion]:
        return suggestions[::-1]

    result = run({"A": {"x": None, "y": None}}, ranker=backwards)
    assert [tactic.tactic for tactic in result.graph.root.tactics] == ["y", "x"]


@pytest.mark.parametrize("ranker", [
    lambda goal, pairs: pairs[1:], lambda goal, pairs: [*pairs, pairs[0]], lambda goal, pairs: [Suggestion(pair.tactic, 1.0) for pair in pairs],
    lambda goal, pairs: [Suggestion("other", pair.probability) for pair in pairs],
])  # fmt: skip
def test_a_ranker_that_changes_more_than_the_order_is_an_error(ranker):
    with pytest.raises(ValueError, match="ranker"):
        run(SMALL, ranker=ranker)


def test_a_tie_break_chooses_among_equals_and_must_choose_one_of_them():
    asked: list[int] = []

    def last(options):
        asked.append(len(options))
        return options[-1]

    table: Table = {"A": {"t": ("B",), "u": ("C",)}, "B": {"x": None}, "C": {"close": ()}}
    assert run(table, policy="ucb1", tie_break=last).proved
    assert asked
    with pytest.raises(ValueError, match="tie-break"):
        run(table, policy="ucb1", tie_break=lambda options: "none of them")


def test_a_provider_that_raises_kills_its_goal_only():
    class Sometimes(TableProvider):
        def suggest(self, goal: Goal) -> list[Suggestion]:
            if goal.key == "B":
                raise RuntimeError("no idea")
            return super().suggest(goal)

    result = run(SMALL, provider=Sometimes(SMALL))
    assert result.proved
    killed = next((goal for goal in result.graph.goals if goal.goal.key == "B" and goal.expanded), None)
    assert killed is None or "no idea" in killed.reason


def test_a_ranker_that_raises_kills_its_goal_only():
    def ranker(goal: Goal, suggestions: list[Suggestion]) -> list[Suggestion]:
        raise RuntimeError("no order")

    result = run(SMALL, ranker=ranker)
    assert result.status == "exhausted"
    assert "no order" in result.graph.root.reason


def test_a_prover_that_raises_fails_in_that_tactic_only():
    class Raises(TableTheorem):
        def open(self):
            prover = TableProver(self.table, self.root)
            answer = prover.attempt

            def attempt(place, tactic, seconds=None) -> Attempt:
                if tactic == "circle":
                    raise OSError("the pipe broke")
                return answer(place, tactic, seconds)

            prover.attempt = attempt
            return prover

    with ProofSearch(Raises(SMALL)) as search:
        result = search.run(LIMIT)
    assert result.proved
    assert "the pipe broke" in result.graph.root.tactics[0].reason


def test_probabilities_that_are_no_numbers_are_refused():
    class Strange:
        name = "strange"

        def suggest(self, goal: Goal) -> list[Suggestion]:
            return [Suggestion("t", float("nan"))]

    with pytest.raises(ConfigError, match="strange"):
        run(SMALL, provider=Strange())


ENDLESS: Table = {f"{index}": {"on": (f"{index + 1}",), "fail": None} for index in range(3000)}


@pytest.mark.parametrize("policy", POLICIES)
def test_limits_in_simulations_and_attempts_are_kept_exactly(policy):
    with ProofSearch(TableTheorem(ENDLESS, "0"), ProofConfig(policy=policy), seed=3) as search:
        assert search.run(Limit(simulations=25)).simulations == 25
        before = search.attempts
        assert search.run(Limit(calls=33)).attempts == before + 33
        assert search.run(Limit(seconds=0.05)).status == "open"


def test_a_limit_in_nodes_counts_the_goals_that_a_call_adds():
    with ProofSearch(TableTheorem(ENDLESS, "0"), seed=3) as search:
        for goals in (1, 11, 21):
            assert len(search.graph) == goals
            search.run(Limit(nodes=10))


def test_a_limit_of_nothing_or_of_costs_is_refused():
    with pytest.raises(ConfigError, match="a limit needs simulations"):
        Limit()
    with (
        ProofSearch(TableTheorem(SMALL)) as search,
        pytest.raises(ConfigError, match="a proof search has no cost to limit"),
    ):
        search.run(Limit(cost=1.0))


def test_tiers_go_on_with_the_same_graph_and_report_which_one_decided():
    table: Table = {**{f"{index}": {"on": (f"{index + 1}",)} for index in range(29)}, "29": {"close": ()}}
    with ProofSearch(TableTheorem(table, "0")) as search:
        result = search.run_tiers((10, 50, 200))
    assert (result.proved, result.tier, result.simulations) == (True, 50, 30)
    with ProofSearch(TableTheorem(ENDLESS, "0")) as search:
        result = search.run_tiers((10, 50))
    assert (result.status, result.tier, result.simulations) == ("open", None, 50)
    with pytest.raises(ConfigError, match="increasing"), ProofSearch(TableTheorem(table, "0")) as search:
        search.run_tiers((50, 10))


def test_the_trace_reports_every_event_in_order_as_json():
    events: list[dict] = []
    result = run(SMALL, trace=events.append)
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    assert json.loads(json.dumps(events)) == events
    assert sum(event["event"] == "attempt" for event in events) == result.attempts
    proved = [event["goal"] for event in events if event["event"] == "proved"]
    assert 0 in proved


def test_virtual_losses_are_gone_when_nobody_is_at_work():
    result = run(SMALL, policy="puct")
    assert all(goal.in_flight == 0 and not goal.reserved for goal in result.graph.goals)
    assert all(tactic.in_flight == 0 for goal in result.graph.goals for tactic in goal.tactics)


def test_the_deepest_proofs_need_no_recursion():
    table: Table = {**{f"{index}": {"on": (f"{index + 1}",)} for index in range(999)}, "999": {"close": ()}}
    with ProofSearch(TableTheorem(table, "0"), ProofConfig(policy="best_first")) as search:
        result = search.run(Limit(calls=4000))
    assert result.steps == 1000
