"""The analysis protocol: interleaved queries, errors with the field's name, reports during a search."""

from __future__ import annotations

import gc
import io
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treetop as tt
from treetop.serve.analysis import _MOST_AT_A_TIME, Analyzer, lines_of

MOVES = {"connect_four": ["4", "4", "3"], "tic_tac_toe": ["b2", "a1"], "hex(size=4)": ["b2"], "nim": ["1"], "pig": []}


def answers_to(*queries, game=None, threads=1, **options):
    """Send queries, as objects or texts; return all answers."""
    found = []
    known = None if game is None else tt.load_game(game)
    with Analyzer(found.append, game=known, threads=threads, **options) as analyzer:
        for query in queries:
            analyzer.receive(query if isinstance(query, str | bytes) else json.dumps(query))
        analyzer.wait()
    json.dumps(found, allow_nan=False)
    return found


def test_an_answer_has_the_fields_of_the_protocol():
    [answer] = answers_to({"id": "q", "game": "connect_four", "moves": ["4", "4"], "maxVisits": 500})
    assert {name: answer[name] for name in ("id", "turnNumber", "isDuringSearch")} == {
        "id": "q", "turnNumber": 2, "isDuringSearch": False,
    }  # fmt: skip
    assert [info["order"] for info in answer["moveInfos"]] == list(range(7))
    best = answer["moveInfos"][0]
    assert {"move", "visits", "edgeVisits", "prior", "winrate", "utility", "lcb", "pv", "order"} <= set(best)
    assert best["pv"][0] == best["move"]
    assert 0 <= best["lcb"] <= best["winrate"] <= 1
    assert answer["rootInfo"]["visits"] == 500
    assert answer["rootInfo"]["currentPlayer"] == 0


def test_answers_are_those_of_a_search():
    [answer] = answers_to({"id": "q", "game": "tic_tac_toe", "rule": "uct(c=1.0)", "maxVisits": 300, "seed": 7})
    alone = tt.search("tic_tac_toe", tt.uct(c=1.0), simulations=300, seed=7)
    assert {info["move"]: info["visits"] for info in answer["moveInfos"]} == {
        row.move: row.visits for row in alone.explain().rows
    }
    assert answer["moveInfos"][0]["move"] == alone.move


def test_a_thousand_interleaved_queries_are_answered_with_their_ids():
    rng = random.Random(1)
    queries = []
    for number in range(1000):
        game = rng.choice(list(MOVES))
        turns = rng.sample(range(len(MOVES[game]) + 1), k=1)
        queries.append(
            {
                "id": f"q{number}",
                "game": game,
                "moves": MOVES[game],
                "analyzeTurns": turns,
                "maxVisits": rng.randint(1, 60),
            }
        )
    answers = {answer["id"]: answer for answer in answers_to(*queries, threads=2)}
    assert len(answers) == 1000
    for query in queries:
        answer = answers[query["id"]]
        assert "error" not in answer
        assert answer["turnNumber"] == query["analyzeTurns"][0]
        position = tt.position(query["game"], moves=query["moves"][: answer["turnNumber"]])
        assert {info["move"] for info in answer["moveInfos"]} == set(position.legal_moves())


def test_every_turn_that_is_asked_for_is_answered():
    found = answers_to(
        {"id": "q", "game": "tic_tac_toe", "moves": "a1 b1 a2 b2 a3", "analyzeTurns": [0, 2, 5, 2], "maxVisits": 50}
    )
    assert sorted(answer["turnNumber"] for answer in found) == [0, 2, 5]
    last = next(answer for answer in found if answer["turnNumber"] == 5)
    assert (last["noResults"], last["returns"]) == (True, [1.0, -1.0])


def test_a_long_query_reports_while_it_is_searched_and_can_be_terminated():
    found = []
    with Analyzer(found.append) as analyzer:
        query = {"id": "long", "game": "othello", "maxVisits": 10**9, "reportDuringSearchEvery": 0.05}
        analyzer.receive(json.dumps(query))
        while sum(answer.get("isDuringSearch", False) for answer in found) < 3:
            pass
        analyzer.receive('{"id": "end", "action": "terminate", "terminateId": "long"}')
        analyzer.wait()
    assert [answer["id"] for answer in found if answer.get("action") == "terminate"] == ["end"]
    assert found[-1]["id"] == "long" or found[-2]["id"] == "long"
    assert [answer["isDuringSearch"] for answer in found if answer["id"] == "long"][-1] is False


def test_moves_can_be_allowed_and_avoided():
    [only] = answers_to({"id": "q", "game": "tic_tac_toe", "allowMoves": ["a1", "c3"], "maxVisits": 200})
    assert {info["move"] for info in only["moveInfos"] if info["visits"]} <= {"a1", "c3"}
    [without] = answers_to({"id": "q", "game": "tic_tac_toe", "avoidMoves": ["b2"], "maxVisits": 200})
    assert not next(info for info in without["moveInfos"] if info["move"] == "b2")["visits"]


def test_policies_and_boards_come_if_they_are_asked_for():
    [answer] = answers_to(
        {"id": "q", "includePolicy": True, "includeBoard": True, "maxVisits": 20, "maxMoves": 2}, game="tic_tac_toe"
    )
    assert len(answer["moveInfos"]) == 2
    assert sum(answer["policy"].values()) == pytest.approx(1.0)
    assert answer["board"][0]["kind"] == "grid"


def test_proven_values_are_in_the_answer():
    [answer] = answers_to(
        {"id": "q", "game": "tic_tac_toe", "rule": "uct(solver=True)", "moves": "a1 b1 a2 b2", "maxVisits": 5000}
    )
    assert answer["moveInfos"][0]["move"] == "a3"
    assert answer["moveInfos"][0]["proven"] == 1.0
    assert answer["rootInfo"]["proven"]["outcome"] == "win"


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("{", "", "not a line of JSON"),
        ("[1]", "", "a query is a JSON object"),
        (b"\xff\xfe", "", "not a line of JSON"),
        ("[" * 100_000, "", ""),
        ({"game": "nim"}, "id", "a query needs an id"),
        ({"id": 3, "game": "nim"}, "id", "a query needs an id"),
        ({"id": "q"}, "game", "a query needs a game"),
        ({"id": "q", "game": "chess960"}, "game", "no game"),
        ({"id": "q", "game": "os:system"}, "game", ""),
        ({"id": "q", "game": "nim(stones=10**9)"}, "game", ""),
        ({"id": "q", "game": "nim", "maxVisit": 3}, "maxVisit", "did you mean maxVisits"),
        ({"id": "q", "game": "nim", "maxVisits": 0}, "maxVisits", "whole number"),
        ({"id": "q", "game": "nim", "maxVisits": True}, "maxVisits", "whole number"),
        ({"id": "q", "game": "nim", "maxVisits": 1e3}, "maxVisits", "whole number"),
        ({"id": "q", "game": "nim", "maxTime": -1}, "maxTime", ""),
        ({"id": "q", "game": "nim", "moves": ["9"]}, "moves", "move 1"),
        ({"id": "q", "game": "nim", "moves": [1]}, "moves", "must be a text"),
        ({"id": "q", "game": "nim", "moves": 7}, "moves", "a list of moves"),
        ({"id": "q", "game": "nim", "analyzeTurns": [4]}, "analyzeTurns", "turn 4 does not exist"),
        ({"id": "q", "game": "nim", "analyzeTurns": "all"}, "analyzeTurns", "must be a list"),
        ({"id": "q", "game": "nim", "analyzeTurns": []}, "analyzeTurns", "must name a turn"),
        ({"id": "q", "game": "nim", "rule": "magic"}, "rule", "there is no rule"),
        ({"id": "q", "game": "nim", "rule": "uct(c=-1)"}, "rule", "c must be"),
        ({"id": "q", "game": "nim", "avoidMoves": ["x"]}, "avoidMoves", "not a legal move"),
        ({"id": "q", "game": "nim", "allowMoves": []}, "allowMoves", "leave no move"),
        ({"id": "q", "game": "nim", "avoidMoves": ["1", "2", "3"]}, "avoidMoves", "leave no move"),
        ({"id": "q", "game": "nim", "allowMoves": ["1"], "avoidMoves": ["1"]}, "avoidMoves", "leave no move"),
        ({"id": "q", "game": "nim", "includePolicy": "yes"}, "includePolicy", "includePolicy must be"),
        ({"id": "q", "game": "connect_four", "initialPosition": "XX"}, "initialPosition", "Connect Four diagram"),
        ({"id": "q", "action": "dance"}, "action", "action must be"),
        ({"id": "q", "action": "x" * 1000}, "action", "xxx..."),
        ({"id": "q", "action": "terminate"}, "terminateId", "must be the id"),
    ],
)
def test_a_wrong_query_gets_an_error_with_the_fields_name(query, field, message):
    [answer] = answers_to(query)
    assert answer["field"] == field
    assert message in answer["error"]


def test_two_queries_of_one_id_are_refused_while_the_first_runs():
    found = answers_to(
        {"id": "q", "game": "othello", "maxVisits": 20_000}, {"id": "q", "game": "nim"}, {"id": "r", "game": "nim"}
    )
    errors = [answer for answer in found if "error" in answer]
    assert [(answer["id"], answer["field"]) for answer in errors] == [("q", "id")]
    assert {answer["id"] for answer in found} == {"q", "r"}


def test_a_search_is_freed_as_soon_as_it_is_answered():
    def searches():
        return sum(issubclass(type(one), tt.Search) for one in gc.get_objects())  # isinstance would ask dead proxies

    gc.collect()
    gc.disable()
    try:
        before = searches()
        answers_to(*({"id": str(number), "game": "tic_tac_toe", "maxVisits": 50} for number in range(20)))
        assert searches() == before
    finally:
        gc.enable()


def test_many_long_queries_wait_for_each_other_and_all_can_be_terminated():
    found = []
    with Analyzer(found.append, game=tt.load_game("tic_tac_toe")) as analyzer:
        for number in range(100):
            analyzer.receive(json.dumps({"id": str(number), "rule": "uct", "maxVisits": 10**9}))
        assert len(analyzer._scheduler) == _MOST_AT_A_TIME
        analyzer.receive('{"id": "one", "action": "terminate", "terminateId": "99"}')
        while not any(answer["id"] == "99" for answer in found):
            time.sleep(0.01)
        analyzer.receive('{"id": "end", "action": "terminate_all"}')
        analyzer.wait()
    assert sorted(answer["id"] for answer in found if "rootInfo" in answer) == sorted(map(str, range(100)))


def test_games_with_chance_cards_and_simultaneous_moves_are_analyzed():
    queries = [
        {"id": "a", "game": "pig", "maxVisits": 100},
        {"id": "b", "game": "leduc_poker", "moves": ["J1", "Q1"], "maxVisits": 100},
        {"id": "c", "game": "rock_paper_scissors", "maxVisits": 100},
        {"id": "d", "game": "pendulum", "maxVisits": 100},
    ]
    found = {answer["id"]: answer for answer in answers_to(*queries)}
    assert len(found["a"]["moveInfos"]) == 1
    assert "moveInfos" in found["c"]
    assert all("moveInfos" in answer or answer["field"] for answer in found.values())


def test_the_command_answers_on_stdout_and_ends_with_its_input():
    lines = "\n".join(json.dumps({"id": str(number), "maxVisits": 50}) for number in range(5)) + "\n{\n"
    done = subprocess.run(
        [sys.executable, "-m", "treetop", "analyze", "tic_tac_toe"], input=lines, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert sorted(str(answer["id"]) for answer in answers) == ["0", "1", "2", "3", "4", "None"]


COMMAND = [sys.executable, "-m", "treetop", "analyze", "tic_tac_toe"]


def test_the_command_ends_when_nobody_reads_its_answers():
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        command.stdout.close()
        command.stdin.write(b'{"id": "q", "maxVisits": 50}\n')
        command.stdin.flush()  # and it stays open
        assert command.wait(60) == 1
        assert command.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_the_command_says_that_its_answers_cannot_be_written():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            COMMAND,
            input=b'{"id": "q", "maxVisits": 50}\n',
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"error: the answers cannot be written: No space left on device\n"


def test_the_command_says_that_its_input_is_closed():
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *COMMAND], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "one of them is closed" in done.stderr


def test_of_a_line_that_is_too_long_only_the_beginning_is_kept():
    stream = io.BytesIO(b"x" * 5_000_000 + b"\n{}\n" + b"y")
    assert [len(line) for line in lines_of(stream)] == [2**20 + 1, 3, 1]
