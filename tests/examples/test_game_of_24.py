"""Planning with a language model: real HTTP through the real client to the local stand-in; budgets, records, failures, and what is printed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import game_of_24
import pytest
from reasoning.advisers import Adviser, NoOpinion, Proposal, RuleOfThumb, Verdict
from reasoning.chat import ChatModel, read_chance, read_steps
from reasoning.display import Tokens, solution_of
from reasoning.puzzle import GameOf24, Step, expression, is_solution
from reasoning.stand_in import StandIn, can_reach

import treetop as tt

ROOT = Path(game_of_24.__file__).parents[1]
BUNDLED = sorted((ROOT / "examples" / "recorded").glob("game_of_24_*.jsonl"))
CONFIG = tt.puct(c=1.0, solver=True, fpu="parent", fpu_reduction=0.1)


def adviser_of(server):
    model = ChatModel("stand-in", base_url=server.url, api_key="none")
    return Adviser(model, model)


def search_of(*numbers):
    return tt.Search(GameOf24(numbers), CONFIG, seed=1)


def columns(search):
    size = search.tree.size
    return [
        search.tree.columns.stats[:size].tobytes(),
        search.tree.columns.links[:size].tobytes(),
        search.tree.totals.tobytes(),
    ]


@pytest.fixture
def no_sockets(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a replay needs no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


# The puzzle.


@pytest.mark.parametrize(
    ("numbers", "solvable"),
    [((4, 9, 10, 13), True), ((1, 5, 5, 5), True), ((3, 3, 8, 8), True), ((1, 1, 1, 1), False), ((1, 6, 7, 7), False)],
)
def test_the_rules_alone_know_what_can_be_made(numbers, solvable):
    search = search_of(*numbers)
    result = search.run_remote(tt.Limit(calls=20_000), Adviser(NoOpinion(), NoOpinion()))
    assert result.proof is not None
    assert result.proof.value == solvable == can_reach(search.start)
    solution = solution_of(search)
    assert (solution is not None) == solvable
    if solution is not None:
        assert is_solution(expression(search.problem.numbers, solution), search.problem.numbers)


def test_steps_are_exact_and_legal():
    game = GameOf24([3, 3, 8, 8])
    assert len(game.actions(game.initial())) == 14
    assert len(GameOf24([4, 9, 10, 13]).actions(GameOf24([4, 9, 10, 13]).initial())) == 36
    third = Fraction(1, 3)
    assert game.step((third, Fraction(8)), Step(Fraction(8), "/", third)) == (24,)
    assert str(Step(Fraction(8), "/", third)) == "8 / (1/3) = 24"
    assert all(step.operator != "/" or step.right for step in game.actions((Fraction(0), Fraction(0), Fraction(5))))
    with pytest.raises(ValueError, match="at least two"):
        GameOf24([24])


@pytest.mark.parametrize(("text", "right"), [
    ("8 / (3 - 8 / 3)", True), ("8 * 3 + 8 - 8", False), ("8 * 3 * (8 / 8)", False), ("3 * 8 + 3 - 8 + 5", False), ("8 / (3 - 3 * 8", False),
    ("8 / (3 - 3) + 8", False), ("8 ** 3 - 3 - 8", False), ("__import__('os')", False), ("", False),
])  # fmt: skip
def test_a_solution_is_looked_at_anew(text, right):
    assert is_solution(text, map(Fraction, (3, 3, 8, 8))) == right


# What a model says.


def test_steps_are_read_however_they_are_written():
    game = GameOf24([2, 3, 8, 10])
    steps = game.actions(game.initial())
    said = """<think>2 + 3 = 5 | 99</think>Let me see: 24 has many divisors.
    1. 3 + 8 = 11 | 70
    - 10 \N{MULTIPLICATION SIGN} 2 = 20 | 60
    * **10 \N{MINUS SIGN} 8 = 2** | 30
    8÷2=4
    3 - 10 = -7 (left: -7 2 8) | 5
    3 / 2 = 1.5 | 10
    `3 x 2 = 6` | 20.5
    8 + 3 | 12"""
    weights, rejected = read_steps(said, steps)
    assert {str(step): weight for step, weight in weights.items()} == {
        "8 + 3 = 11": 70,
        "10 * 2 = 20": 60,
        "10 - 8 = 2": 30,
        "8 / 2 = 4": 50,
        "3 - 10 = -7": 5,
        "3 / 2 = 3/2": 10,
        "3 * 2 = 6": 20.5,
    }
    assert rejected == []


def test_steps_with_fractions_are_read():
    state = (Fraction(-1, 2), Fraction(1, 3), Fraction(8))
    steps = GameOf24([1, 2]).actions(state)
    weights, rejected = read_steps("8 / (1/3) = 24 | 90\n8/1/3 = 24\n8 - (-1/2) = 17/2\n-0.5 * 8 = -4.0 | 7", steps)
    assert [str(step) for step in weights] == ["8 / (1/3) = 24", "8 - (-1/2) = 17/2", "8 * (-1/2) = -4"]
    assert not rejected


def test_what_is_no_legal_step_is_left_out_and_reported():
    game = GameOf24([4, 9, 10, 13])
    steps = game.actions(game.initial())
    weights, rejected = read_steps(
        "4 + 5 = 9 | 80\n9 + 4 = 14 | 90\n4 + 4 = 8\n9 + 4 = thirteen\nI like 24.\n13 - 9 = 4 | 0", steps
    )
    assert [str(step) for step in weights] == ["13 - 9 = 4"]
    assert rejected == ["4 + 5 = 9 | 80", "9 + 4 = 14 | 90", "4 + 4 = 8", "9 + 4 = thirteen"]


@pytest.mark.parametrize(("said", "chance"), [
    ("chance: 35", 0.35), ("Perhaps chance: 10?\n**Chance:** 62.5 %", 0.625), ("80%", 0.8), ("7", 0.07), ("<think>chance: 3</think>chance = 4", 0.04),
    ("chance: 350", None), ("I would say likely", None), ("", None), ("<think>chance: 3", None), ("24 is 12 and 12", None),
])  # fmt: skip
def test_a_chance_is_read_or_there_is_none(said, chance):
    assert read_chance(said) == chance


def test_what_nobody_proposed_keeps_a_little_of_the_prior():
    class One(NoOpinion):
        async def propose(self, state, steps):
            return Proposal({steps[3]: 7.0})

    search = search_of(4, 9, 10, 13)
    result = search.run_remote(tt.Limit(calls=1), Adviser(One(), NoOpinion(), floor=0.2))
    assert result.priors[3] == pytest.approx(0.8 + 0.2 / 36)
    assert result.priors.min() == pytest.approx(0.2 / 36)


# Over HTTP.


@pytest.mark.parametrize("numbers", [(4, 9, 10, 13), (1, 5, 5, 5), (3, 3, 8, 8), (1, 2, 3, 4)])
def test_puzzles_are_solved_over_http(numbers):
    with StandIn(seed=1) as server:
        search = search_of(*numbers)
        result = search.run_remote(tt.Limit(cost=40_000), adviser_of(server), in_flight=8, timeout=30)
    assert result.stopped == "solved"
    assert is_solution(expression(search.problem.numbers, solution_of(search)), search.problem.numbers)
    assert 0 < result.cost <= 40_000
    assert sum(server.asked.values()) >= 3
    tokens = Tokens.of(result)
    assert tokens.whole[()] == sum(tokens.own.values()) == result.cost


def test_the_same_numbers_are_asked_about_once():
    with StandIn(seed=1) as server:
        result = search_of(1, 1, 1, 1).run_remote(tt.Limit(cost=40_000), adviser_of(server), in_flight=1)
    assert set(server.asked.values()) == {1}
    assert any(call.cost == 0 for call in result.call_log)
    assert result.proof.value == 0  # everything was looked at: it cannot be done


@pytest.mark.parametrize("in_flight", [1, 8])
def test_a_puzzle_without_a_solution_spends_its_budget_and_hardly_more(in_flight):
    with StandIn(seed=1) as server:
        search = search_of(1, 6, 7, 7)
        result = search.run_remote(tt.Limit(cost=3000), adviser_of(server), in_flight=in_flight)
    assert result.stopped == "the limit was reached"
    assert solution_of(search) is None
    assert result.proof is None
    most = max(call.cost for call in result.call_log)
    assert 3000 <= result.cost <= 3000 + in_flight * most


def test_a_conversation_replays_bit_for_bit_without_a_network(tmp_path, request):
    file = tmp_path / "talk.jsonl"
    with StandIn(seed=2, failing=0.2, babbling=0.1, seconds=0.005) as server:
        recorded = search_of(1, 6, 7, 7)
        first = recorded.run_remote(
            tt.Limit(cost=6000), adviser_of(server), in_flight=6, retries=3, backoff=0.001, record=file
        )
    assert any(call.attempts > 1 for call in first.call_log)
    assert any(call.note and call.note["rejected"] for call in first.call_log)
    request.getfixturevalue("no_sockets")
    replayed = search_of(1, 6, 7, 7)
    second = replayed.run_remote(tt.Limit(cost=6000), in_flight=6, replay=file)
    assert columns(replayed) == columns(recorded)
    assert (second.visits, second.value, second.cost, second.calls, second.failures) == (
        first.visits,
        first.value,
        first.cost,
        first.calls,
        first.failures,
    )
    assert [(call.path, call.cost, call.note) for call in second.call_log] == [
        (call.path, call.cost, call.note) for call in first.call_log
    ]


class Moody(StandIn):
    """Answers badly whenever it is asked about certain numbers."""

    def __init__(self, bad, *answers):
        super().__init__(seed=1)
        self.bad, self.answers = bad, answers

    def reply(self, messages):
        status, text = super().reply(messages)
        if not messages[-1]["content"].endswith(f": {self.bad}"):
            return status, text
        times = max(count for question, count in self.asked.items() if question.endswith(f": {self.bad}"))
        answer = self.answers[min(times, len(self.answers)) - 1]
        if answer == "slow":
            time.sleep(1.4)
        return answer if isinstance(answer, tuple) else (status, text)


def test_errors_of_the_server_are_tried_again():
    with Moody("1 3 4", (429, "slow down"), (500, "oops"), "well") as server:
        search = search_of(1, 3, 4)
        result = search.run_remote(tt.Limit(cost=5000), adviser_of(server), retries=2, backoff=0.001)
    assert not result.failures
    assert result.call_log[0].attempts == 3
    assert server.asked["propose: Numbers left: 1 3 4"] == 3


@pytest.mark.parametrize(("answer", "reason"), [((500, "out of order"), "InternalServerError"), ((429, "slow down"), "RateLimitError"), ("slow", "longer than 1 s"),
                                                ((200, "No idea, sorry."), "the verifier gave no probability: 'No idea, sorry.'")])  # fmt: skip
def test_after_the_last_attempt_a_position_is_dead_and_says_why(answer, reason):
    with Moody("1 5", answer) as server:
        search = search_of(1, 1, 5)
        result = search.run_remote(
            tt.Limit(cost=20_000), adviser_of(server), retries=1, backoff=0.001, timeout=1.0, in_flight=4
        )
    assert {str(failure.path[0]) for failure in result.failures} == {"1 * 1 = 1", "1 / 1 = 1", "5 * 1 = 5", "5 / 1 = 5"}
    assert all(reason in failure.reason and "the last of 2 attempts" in failure.reason for failure in result.failures)
    assert result.simulations > 10


def test_where_positions_failed_nobody_says_that_every_way_was_looked_at(capsys):
    with Moody("1 5", (200, "No idea, sorry.")) as server:
        assert game_of_24.main(["1", "1", "5", "--model", "stand-in", "--base-url", server.url, "--retries", "0"]) == 0
    shown = capsys.readouterr().out
    assert "every way" not in shown
    assert "4 positions failed and were not searched" in shown
    assert "the verifier gave no probability" in shown


def test_tokens_of_answers_that_cannot_be_read_are_counted():
    with Moody("3 8", (200, "No idea.")) as server, pytest.raises(tt.errors.SearchError, match="gave no probability"):
        search_of(3, 8).run_remote(tt.Limit(cost=5000), adviser_of(server), retries=1, backoff=0.0)
    with Moody("1 12", (200, "No idea.")) as server:
        result = search_of(1, 1, 12).run_remote(
            tt.Limit(cost=50_000), adviser_of(server), retries=2, backoff=0.0, in_flight=1
        )
    failed = next(call for call in result.call_log if call.error)
    assert failed.attempts == 3
    # The proposer's empty words are no preference, and are kept: it is asked once. The verifier is asked three times.
    assert (server.asked["propose: Numbers left: 1 12"], server.asked["verify: Numbers left: 1 12"] % 3) == (1, 0)
    assert failed.cost > 250
    assert result.cost == sum(call.cost for call in result.call_log)


def test_a_proposer_without_a_legal_step_prefers_nothing():
    class Babbler(StandIn):
        def propose(self, game, dice):
            return "I would rather write a poem.\n99 + 98 = 197 | 90"

    with Babbler(seed=1) as server:
        search = search_of(2, 3, 4)
        result = search.run_remote(tt.Limit(cost=20_000), adviser_of(server))
    assert result.stopped == "solved"  # the rules and the verifier were enough
    assert result.priors.max() == pytest.approx(result.priors.min())
    assert sum(len(call.note["rejected"]) for call in result.call_log) > 0


def test_a_server_that_does_not_count_tokens_is_counted_for():
    class Choice:
        def __init__(self, content):
            self.message = type("Message", (), {"content": content})

    class Client:
        chat = property(lambda self: self)
        completions = property(lambda self: self)

        async def create(self, model, messages):
            return type(
                "Response",
                (),
                {"choices": [Choice("chance: 50" if "percent" in messages[0]["content"] else None)], "usage": None},
            )

    class Uncounted(ChatModel):
        async def __aenter__(self):
            self._client = Client()
            return self

        async def __aexit__(self, *error):
            pass

    model = Uncounted("any", base_url="http://127.0.0.1:9/v1", api_key="none")
    result = search_of(1, 2, 12).run_remote(tt.Limit(calls=1), Adviser(model, model))
    assert 150 < result.cost < 400


def test_without_the_package_the_error_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(tt.errors.MissingExtraError, match=r'pip install -e "\.\[llm\]"'):
        ChatModel("any")
    assert game_of_24.main(["1", "2", "3", "4", "--model", "any", "--base-url", "http://127.0.0.1:9/v1"]) == 2
    assert 'pip install -e ".[llm]"' in capsys.readouterr().err
    assert game_of_24.main([]) == 0  # a replay needs no package


# The user's own adviser.


def test_a_proposer_of_one_kind_and_a_verifier_of_another():
    class Oracle:
        async def verify(self, state):
            return Verdict(0.95 if can_reach(state) else 0.05, tokens=10)

    search = search_of(3, 3, 8, 8)
    result = search.run_remote(tt.Limit(cost=10_000), Adviser(RuleOfThumb(), Oracle()), in_flight=1)
    assert result.stopped == "solved"
    assert result.cost % 10 == 0


# The command.


def test_there_are_bundled_conversations():
    assert {"game_of_24_4_9_10_13.jsonl", "game_of_24_3_3_8_8.jsonl"} <= {file.name for file in BUNDLED}


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.stem)
def test_every_bundled_conversation_replays(file, no_sockets, capsys):
    assert game_of_24.main(["--replay", str(file)]) == 0
    shown = capsys.readouterr().out
    assert f"the record {file.name}" in shown
    assert (
        "= 24   checked with exact fractions" in shown
        or "24 cannot be made" in shown
        or "no solution was found" in shown
    )
    assert game_of_24.main(file.stem.split("_")[3:]) == 0  # by its numbers alone
    assert capsys.readouterr().out.splitlines()[:20] == shown.splitlines()[:20]


def test_the_output_shows_the_solution_the_tree_and_the_bill(no_sockets, capsys):
    assert game_of_24.main(["4", "9", "10", "13"]) == 0
    shown = capsys.readouterr().out
    for text in (
        "game of 24  4 9 10 13",
        "= 24   checked with exact fractions",
        "leaves 24",
        "visits",
        "value",
        "prior",
        "tokens",
        "with below",
        "24!",
        "of 20,000 spent",
        "left",
        "calls",
        "rejected",
        "proposed steps",
        "ended     solved",
    ):
        assert text in shown, text
    assert max(map(len, shown.splitlines())) <= 100


def test_the_command_asks_records_and_replays(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = tmp_path / "talk.jsonl"
    with StandIn(seed=3) as server:
        arguments = [
            "1",
            "5",
            "5",
            "5",
            "--model",
            "stand-in",
            "--base-url",
            server.url,
            "--budget",
            "50000",
            "--in-flight",
            "4",
            "--seed",
            "5",
            "--temperature",
            "0",
        ]
        assert game_of_24.main([*arguments, "--record", str(file)]) == 0
    live = capsys.readouterr().out
    assert f"stand-in at {server.url}" in live
    assert game_of_24.main(["--replay", str(file)]) == 0
    again = capsys.readouterr().out
    assert again.partition(" cost ")[0] == live.partition(" cost ")[0]
    assert game_of_24.main(["1", "2", "3", "4", "--replay", str(file)]) == 2
    assert "is about 1 5 5 5" in capsys.readouterr().err


def test_the_command_says_when_the_budget_was_not_enough(capsys):
    with StandIn(seed=1) as server:
        assert (
            game_of_24.main(["1", "6", "7", "7", "--model", "stand-in", "--base-url", server.url, "--budget", "1500"])
            == 0
        )
    shown = capsys.readouterr().out
    assert "no solution was found within the budget" in shown
    assert "0 left" in shown


def test_the_command_says_when_nobody_answers(capsys):
    assert (
        game_of_24.main(["1", "2", "3", "4", "--model", "any", "--base-url", "http://127.0.0.1:9/v1", "--retries", "0"])
        == 2
    )
    assert "APIConnectionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["7"],
        ["1", "2", "-3"],
        ["--base-url", "http://x/v1"],
        ["--replay", "a", "--model", "b"],
        ["--adviser", "thumb", "--model", "b"],
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        game_of_24.main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_what_cannot_be_asked_is_reported(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert game_of_24.main(["1", "2", "3", "4", "--model", "any"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
    assert game_of_24.main(["2", "2", "2", "2"]) == 2
    assert "--adviser thumb" in capsys.readouterr().err
    (tmp_path / "other.jsonl").write_text("[]\n")
    assert game_of_24.main(["--replay", str(tmp_path / "other.jsonl")]) == 2
    assert "is not a conversation" in capsys.readouterr().err


@pytest.mark.parametrize("adviser", ["thumb", "none"])
def test_the_baselines_need_no_model(adviser, no_sockets, capsys):
    assert game_of_24.main(["4", "9", "10", "13", "--adviser", adviser]) == 0
    assert "checked with exact fractions" in capsys.readouterr().out


def test_the_command_runs_as_a_program(tmp_path):
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "game_of_24.py")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    )
    assert ran.returncode == 0, ran.stderr
    assert "checked with exact fractions" in ran.stdout
