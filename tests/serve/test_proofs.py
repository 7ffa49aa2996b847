"""Proof searches in the background: proofs, counter-models, their graphs, limits, and the requests for them."""

from __future__ import annotations

import shutil
import time

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")

import httpx

from treetop.cli.serve import find_theorem
from treetop.errors import ConfigError, FormulaError, ProverError
from treetop.prove import Attempt, Goal, LogicTheorem, Suggestion
from treetop.prove.graph import Graph
from treetop.serve.app import Options
from treetop.serve.limits import TooManyError
from treetop.serve.proof_trees import Part
from treetop.serve.proofs import ProofLimits, Proofs
from treetop.serve.server import Server
from treetop.serve.tasks import Scheduler

SWAP = "p & q -> q & p"
PEIRCE = "((p -> q) -> p) -> p"


def pigeons(holes: int) -> str:
    """Return the statement that two of `holes + 1` pigeons share a hole."""
    every = " & ".join(f"({' | '.join(f'p{one}{hole}' for hole in range(holes))})" for one in range(holes + 1))
    both = [f"p{a}{hole} & p{b}{hole}" for hole in range(holes) for a in range(holes + 1) for b in range(a)]
    return f"{every} -> {' | '.join(both)}"


@pytest.fixture(scope="module")
def address():
    with Server(Options(threads=1)) as server:
        yield server.address


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address, timeout=30) as made:
        yield made


@pytest.fixture
def scheduler():
    with Scheduler() as made:
        yield made


def prove(client, formula, **fields):
    answer = client.post("/api/proofs", json={"formula": formula, **fields})
    assert answer.status_code == 201, answer.text
    return finished(client, answer.json()["proof"])


def finished(client, name):
    end = time.monotonic() + 30
    while (view := client.get(f"/api/proofs/{name}").json())["running"]:
        assert time.monotonic() < end
        time.sleep(0.01)
    return view


def graph(client, view, **where):
    return client.get(f"/api/proofs/{view['proof']}/graph", params=where).json()["nodes"]


@pytest.mark.parametrize("policy", ["puct", "ucb1", "best_first", "blind_uniform"])
def test_a_formula_is_proved_with_each_policy(client, policy):
    view = prove(client, SWAP, policy=policy, seed=3)
    assert view["status"] == "proved"
    assert view["checker"] == "treetop natural deduction"
    assert view["script"].splitlines()[0] == "intro"
    nodes = graph(client, view)
    assert nodes[0] | {"status": "proved", "proof": True, "id": 0, "text": f"|- {SWAP}"} == nodes[0]
    used = [node["text"] for node in nodes if node["kind"] == "tactic" and node["proof"]]
    assert sorted(used) == sorted(line.strip("- ") for line in view["script"].splitlines())


def test_an_unprovable_formula_is_reported_with_a_counter_model(client):
    view = prove(client, PEIRCE)
    assert view["status"] == "exhausted"
    assert view["model"]["text"] == "world 0: no atom\n  world 1: p"
    nodes = graph(client, view)
    assert nodes[0]["status"] == "dead"
    assert all(node["reason"] for node in nodes)
    assert any(node["reason"].startswith("not needed") for node in nodes if node["status"] == "open")
    assert client.post(f"/api/proofs/{view['proof']}/run", json={}).status_code == 400


def test_equal_searches_are_equal(client):
    views = [prove(client, pigeons(2), seed=5) for _ in range(2)]
    for view in views:
        del view["proof"], view["seconds"]
    assert views[0] == views[1]


def test_every_tactic_stands_below_its_goal_and_every_goal_below_its_tactic(client):
    nodes = graph(client, prove(client, pigeons(2)), nodes=2000)
    for node in nodes[1:]:
        assert nodes[node["parent"]]["kind"] != node["kind"]
    for index, node in enumerate(nodes):
        below = [one for one in nodes if one["parent"] == index]
        if node["kind"] == "tactic":
            assert len(below) <= node["subgoals"]
        elif node["again"] is None:
            assert len(below) + node["left"] == node["tactics"]


def test_a_shared_goal_is_listed_once_and_referred_to_elsewhere(client):
    nodes = graph(client, prove(client, pigeons(2)), nodes=2000)
    again = [(index, node) for index, node in enumerate(nodes) if node["kind"] == "goal" and node["again"] is not None]
    assert again
    for index, node in again:
        assert nodes[node["again"]]["id"] == node["id"]
        assert node["shared"] > 1
        assert all(one["parent"] != index for one in nodes)


def test_a_cycle_is_marked():
    first, second = Goal("A"), Goal("B")
    graph = Graph(first)
    for goal, tactic, below in ((first, "there", second), (second, "back", first), (second, "stay", second)):
        node = graph.find(goal)
        graph.expand(node, [*(node.suggestions or ()), Suggestion(tactic, 0.5)])
        graph.record(node, node.suggestions[-1], Attempt((below,)))
    nodes = Part(graph).nodes
    assert [(node["text"], node["backward"]) for node in nodes if node["kind"] == "tactic"] == [
        ("there", False),
        ("back", True),
        ("stay", True),
    ]
    assert [(node["text"], node["cycle"]) for node in nodes if node["kind"] == "goal"] == [
        ("A", False),
        ("B", False),
        ("A", True),
        ("B", True),
    ]


def test_an_answer_is_bounded_and_says_what_is_left(client):
    view = prove(client, pigeons(3), simulations=1000)
    nodes = graph(client, view, nodes=30)
    assert len(nodes) <= 30
    assert sum(node.get("left", 0) for node in nodes) > 0
    tactics = [node for node in nodes if node["kind"] == "tactic"]
    assert all(one["visits"] > 0 for one in tactics)
    wanted = next(node["id"] for node in nodes if node["kind"] == "goal" and node["left"] and node["id"])
    deeper = client.get(f"/api/proofs/{view['proof']}/graph", params={"goal": wanted, "nodes": 30}).json()
    assert deeper["nodes"][0]["id"] == wanted
    assert deeper["path"][0]["id"] == 0
    for where in ({"goal": 10**6}, {"goal": -1}, {"nodes": 10**6}):
        answer = client.get(f"/api/proofs/{view['proof']}/graph", params=where)
        assert answer.status_code in (404, 422)


@pytest.mark.parametrize(
    ("formula", "position", "message"),
    [
        ("p & (q", 4, "never closed"),
        ("p q", 2, "a connective"),
        ("p ->", 4, "a formula was expected"),
        ("p ! q", 2, "has no meaning"),
        ("  ", 0, "a formula was expected"),
        ("p <-> q <-> r", 8, "add brackets"),
    ],
)
def test_a_bad_formula_gets_the_position_of_the_error(client, formula, position, message):
    answer = client.post("/api/proofs", json={"formula": formula})
    assert answer.status_code == 400
    found = answer.json()
    assert message in found["error"]
    assert (found["field"], found["position"]) == ("formula", position)


@pytest.mark.parametrize(
    "content",
    [
        {"formula": "p" * 1001},
        {"formula": ""},
        {"formula": "p", "policy": "magic"},
        {"formula": "p", "file": "a.v"},
    ],
)
def test_wrong_requests_are_refused(client, content):
    assert client.post("/api/proofs", json=content).status_code == 422


def test_the_most_deeply_nested_formula_ends(client):
    view = prove(client, "~" * 998 + "p", simulations=100)
    assert view["status"] == "open"
    assert view["note"] == "100 simulations are done"


def test_a_search_is_stopped_continued_and_deleted_while_it_runs(client):
    started = client.post("/api/proofs", json={"formula": pigeons(4), "simulations": 1_000_000}).json()
    name = started["proof"]
    assert started["running"]
    client.post(f"/api/proofs/{name}/stop")
    stopped = finished(client, name)
    assert (stopped["status"], stopped["note"]) == ("open", "stopped")
    assert client.post(f"/api/proofs/{name}/run", json={"simulations": 1}).status_code == 202
    assert finished(client, name)["simulations"] == stopped["simulations"] + 1
    client.post(f"/api/proofs/{name}/run", json={"simulations": 1_000_000})
    assert client.post(f"/api/proofs/{name}/run", json={}).status_code == 400
    assert client.delete(f"/api/proofs/{name}").status_code == 200
    assert client.get(f"/api/proofs/{name}").status_code == 404
    assert prove(client, SWAP)["status"] == "proved"


def test_a_counter_model_can_be_searched_before_the_search_ends(client):
    view = prove(client, PEIRCE, simulations=1)
    assert view["status"] == "open"
    client.post(f"/api/proofs/{view['proof']}/refute")
    assert finished(client, view["proof"])["model"] is not None


def test_concurrent_searches_take_turns_and_all_end(client):
    wanted = {SWAP: "proved", PEIRCE: "exhausted", pigeons(2): "proved", "~~(p | ~p)": "proved"}
    names = {
        formula: client.post("/api/proofs", json={"formula": formula, "policy": "ucb1"}).json()["proof"]
        for formula in wanted
    }
    assert {formula: finished(client, name)["status"] for formula, name in names.items()} == wanted


def make(proofs, formula=SWAP, **fields):
    return proofs.create(formula, **{"policy": "puct", "mode": "raw", "seed": 0} | fields)


def test_old_proofs_make_way_for_new_ones(scheduler):
    proofs = Proofs(scheduler, ProofLimits(proofs=2))
    first, second = make(proofs), make(proofs)
    first.view()
    make(proofs)
    assert len(proofs) == 2
    assert proofs.find(first.name) is first
    with pytest.raises(KeyError):
        proofs.find(second.name)


def test_running_proofs_that_are_read_do_not_make_way(scheduler):
    proofs = Proofs(scheduler, ProofLimits(proofs=1, running=1))
    running = make(proofs, pigeons(4))
    proofs.start(running, 1_000_000, None)
    with pytest.raises(TooManyError, match="1 proofs in progress"):
        make(proofs)
    proofs.close()


def test_few_proofs_are_searched_at_a_time(scheduler):
    proofs = Proofs(scheduler, ProofLimits(running=1))
    proofs.start(make(proofs, pigeons(4)), 1_000_000, None)
    with pytest.raises(TooManyError, match="are being searched"):
        proofs.start(make(proofs), 1, None)
    proofs.close()


def test_goals_seconds_and_formulas_are_bounded(scheduler):
    proofs = Proofs(scheduler, ProofLimits(goals=100, seconds=5.0))
    large = make(proofs, pigeons(3))
    proofs.start(large, 1_000_000, None)
    assert scheduler.wait(30)
    assert large.goals < 120
    view = large.view()
    assert (view["full"], view["note"]) == (True, "a proof on this server has at most 100 goals")
    with pytest.raises(ConfigError, match="at most 100 goals"):
        proofs.start(large, 1, None)
    slow = make(Proofs(scheduler, ProofLimits(seconds=0.05)), pigeons(4))
    slow.start(1_000_000)
    while slow.step(0.01):
        pass
    assert slow.view()["note"] == "the time is over"
    with pytest.raises(TooManyError, match="no memory left for formulas"):
        make(Proofs(scheduler, ProofLimits(formulas=1)))
    with pytest.raises(FormulaError, match="at most 1,000 characters"):
        make(proofs, "p" * 1001)


def test_idle_proofs_make_way_when_all_goals_together_are_too_many(scheduler):
    proofs = Proofs(scheduler, ProofLimits(total_goals=30))
    idle = make(proofs, pigeons(3))
    proofs.start(idle, 20, None)
    assert scheduler.wait(30)
    assert idle.goals > 30
    proofs.start(make(proofs), 10, None)
    with pytest.raises(KeyError):
        proofs.find(idle.name)
    assert scheduler.wait(30)


def test_what_failed_is_shown_with_its_reason(scheduler):
    proof = make(Proofs(scheduler), "p | ~p", mode="invertible")
    proof.start(100)
    while proof.step(0.05):
        pass
    nodes = Part(proof.search.graph).nodes
    failed = [node for node in nodes if node["kind"] == "tactic" and node["failed"]]
    assert failed
    assert all(node["reason"] for node in failed)


def test_the_theorem_of_the_server_is_proved_without_a_formula(scheduler):
    theorem = LogicTheorem.read(pigeons(4), name="pigeons", mode="raw")
    proofs = Proofs(scheduler, theorem=theorem)
    first = make(proofs, None)
    proofs.start(first, 1_000_000, None)
    with pytest.raises(TooManyError, match="pigeons is being searched already"):
        make(proofs, None)
    assert make(proofs).view()["theorem"] == "theorem"
    first.stop()
    while first.view()["running"]:
        time.sleep(0.01)
    second = make(proofs, None)
    assert second.view()["theorem"] == "pigeons"
    with pytest.raises(KeyError):
        proofs.find(first.name)
    proofs.close()


def test_a_server_without_a_theorem_needs_a_formula(client):
    answer = client.post("/api/proofs", json={})
    assert answer.status_code == 400
    assert "give a formula" in answer.json()["error"]
    assert client.get("/api/info").json()["theorem"] is None


@pytest.mark.skipif(shutil.which("coqc") is None, reason="needs Coq: apt-get install coq")
def test_a_lemma_of_a_coq_file_is_proved(tmp_path):
    file = tmp_path / "Small.v"
    file.write_text("Lemma swap : forall p q : Prop, p /\\ q -> q /\\ p. Admitted.\n")
    options = Options(threads=1, theorem=find_theorem(f"{file}:swap"))
    with Server(options) as server, httpx.Client(base_url=server.address, timeout=30) as client:
        assert client.get("/api/info").json()["theorem"] == "swap"
        started = client.post("/api/proofs", json={}).json()
        assert started["statement"] == "Lemma swap : forall p q : Prop, p /\\ q -> q /\\ p."
        view = finished(client, started["proof"])
        assert view["status"] == "proved"
        assert view["checker"].startswith("coqc")
        nodes = graph(client, view)
        assert nodes[0]["text"] == "|- forall p q : Prop, p /\\ q -> q /\\ p"
        assert client.post(f"/api/proofs/{view['proof']}/refute").status_code == 400
        assert client.delete(f"/api/proofs/{view['proof']}").status_code == 200


def test_a_lemma_of_the_command_line_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(ProverError, match="cannot be read"):
        find_theorem(f"{tmp_path}/Missing.v:swap")
    with pytest.raises(ConfigError, match="no prover reads"):
        find_theorem("swap")
