"""The server over HTTP and websockets, as clients see it."""

from __future__ import annotations

import json
import socket
import time

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import websockets
from fastapi import Response

import treetop as tt
from treetop.errors import ConfigError
from treetop.serve import connections, security
from treetop.serve.app import Options
from treetop.serve.limits import Limits
from treetop.serve.server import Server


@pytest.fixture(scope="module")
def address():
    with Server(Options(threads=1)) as server:
        yield server.address


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address, timeout=30) as made:
        yield made


def begin(client, game="tic_tac_toe", **fields):
    answer = client.post("/api/sessions", json={"game": game, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_game_is_played_over_http(client):
    view = begin(client)
    name = view["session"]
    for move in ("b2", "a1", "c3"):
        view = client.post(f"/api/sessions/{name}/play", json={"move": move}).json()
    assert view["line"] == ["b2", "a1", "c3"]
    view = client.post(f"/api/sessions/{name}/go", json={"ply": 1}).json()
    assert view["ply"] == 1
    assert client.get(f"/api/sessions/{name}").json()["ply"] == 1
    assert client.delete(f"/api/sessions/{name}").status_code == 200
    assert client.get(f"/api/sessions/{name}").status_code == 404


def test_every_bundled_game_can_begin(client):
    for game in client.get("/api/games").json()["games"]:
        view = begin(client, game["name"])
        assert view["position"]["board"]
        client.delete(f"/api/sessions/{view['session']}")


def test_a_search_is_watched_over_a_websocket(client, address):
    name = begin(client, "connect_four")["session"]

    async def watch():
        url = address.replace("http", "ws") + f"api/sessions/{name}/live"
        async with websockets.connect(url) as live:
            first = json.loads(await live.recv())
            await asyncio.to_thread(client.post, f"/api/sessions/{name}/think", json={"visits": 400_000, "play": True})
            events = [first]
            while not (events[-1]["type"] == "position" and events[-1]["ply"] == 1):
                events.append(json.loads(await asyncio.wait_for(live.recv(), 60)))
            return events

    events = asyncio.run(watch())
    analyses = [event for event in events if event["type"] == "analysis"]
    assert analyses[-1]["over"]
    assert analyses[-1]["simulations"] >= analyses[0]["simulations"]
    assert {"move", "visits", "share", "prior", "exploration", "score", "lcb", "pv"} <= set(analyses[-1]["moves"][0])
    assert events[-1]["line"] == [analyses[-1]["move"]]


def test_a_search_that_is_asked_for_too_late_does_not_start(client):
    name = begin(client, "tic_tac_toe", moves=["a1", "b2"])["session"]
    for content in ({"visits": 20, "play": True, "at": 1}, {"visits": 20, "at": 3}):
        answer = client.post(f"/api/sessions/{name}/think", json=content)
        assert answer.status_code == 202
        assert (answer.json()["ply"], answer.json()["thinking"]) == (2, False)
    over = begin(client, "tic_tac_toe", moves=["a1", "b2", "b1", "a2", "c1"])["session"]
    late = client.post(f"/api/sessions/{over}/think", json={"visits": 20, "play": True, "at": 4})
    assert late.status_code == 202
    assert late.json()["position"]["over"]


def test_trees_records_reviews_and_other_settings_are_answered(client):
    name = begin(client, "tic_tac_toe")["session"]
    client.post(f"/api/sessions/{name}/think", json={"visits": 2000, "rule": "uct"})
    end = time.monotonic() + 30
    while client.get(f"/api/sessions/{name}").json()["thinking"]:
        assert time.monotonic() < end
        time.sleep(0.02)
    tree = client.get(f"/api/sessions/{name}/tree", params={"nodes": 40}).json()
    assert len(tree["nodes"]) == 40
    assert tree["range"] == [-1.0, 1.0]
    assert tree["nodes"][1]["deviation"] is None  # plain UCB1 keeps no squares
    deeper = client.get(
        f"/api/sessions/{name}/tree", params={"path": f"{tree['nodes'][1]['action']}", "nodes": 5}
    ).json()
    assert deeper["nodes"][0]["visits"] == tree["nodes"][1]["visits"]
    record = client.post(f"/api/sessions/{name}/record", json={"visits": 200, "detailed": 10, "rule": "uct"}).json()
    assert len(record["simulations"]) == 10
    other = client.post(f"/api/sessions/{name}/what-if", json={"rule": "uct(c=0.1)", "visits": 200, "seeds": 3}).json()
    assert 1 <= other["same"] <= other["of"] == 3
    wider = client.post(f"/api/sessions/{name}/what-if", json={"rule": "uct", "c": 9.0, "visits": 200}).json()
    assert wider["settings"]["c"] == 9.0
    assert set(wider["searches"][0]["finals"]) == {"visits", "value", "secure", "lcb", "temperature"}
    for move in ("a1", "b1", "a2", "c3"):
        client.post(f"/api/sessions/{name}/play", json={"move": move})
    assert client.get(f"/api/sessions/{name}/review").status_code == 404
    assert client.post(f"/api/sessions/{name}/review", json={"visits": 100}).json()["total"] == 4
    while not (review := client.get(f"/api/sessions/{name}/review").json())["over"]:
        time.sleep(0.02)
    assert len(review["rows"]) == 4


@pytest.mark.parametrize(
    ("path", "content", "status", "message"),
    [
        ("/api/sessions", {"game": "no_such_game"}, 400, "no game"),
        ("/api/sessions", {"game": "os:system"}, 400, ""),
        ("/api/sessions", {"game": "nim", "colour": "red"}, 422, "colour"),
        ("/api/sessions", {"game": "nim", "moves": ["9"]}, 400, "not a legal move"),
        ("/api/sessions", {"game": "nim", "people": [7]}, 400, "people must be"),
        ("/api/sessions", {"game": "nim", "seed": -1}, 422, "seed"),
        ("/api/sessions", [], 422, ""),
        ("/api/sessions/nowhere/play", {"move": "1"}, 404, "no such game"),
    ],
)
def test_wrong_requests_get_an_error_that_names_what_is_wrong(client, path, content, status, message):
    answer = client.post(path, json=content)
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert "Traceback" not in answer.text


def test_wrong_searches_are_refused(client):
    name = begin(client, "nim")["session"]
    for content, message in (
        ({"rule": "magic"}, "no rule"),
        ({"visits": 0}, "visits"),
        ({"only": ["9"]}, "not a legal"),
    ):
        answer = client.post(f"/api/sessions/{name}/think", json=content)
        assert answer.status_code in (400, 422)
        assert message in answer.json()["error"]
    assert client.get(f"/api/sessions/{name}/tree").status_code == 400
    assert client.get(f"/api/sessions/{name}/tree", params={"path": "../etc/passwd"}).status_code == 422


def test_strange_hosts_and_origins_are_refused(client, address):
    assert client.get("/api/info", headers={"host": "evil.example"}).status_code == 421
    for origin in (
        "http://evil.example",
        "null",
        "",
        "http://[",
        "http://127.0.0.1",
        address.rstrip("/") + "@evil.example",
    ):
        assert client.get("/api/info", headers={"origin": origin}).status_code == 403
    assert client.get("/api/info", headers={"origin": address.rstrip("/")}).status_code == 200

    async def connect():
        name = begin(client, "nim")["session"]
        url = address.replace("http", "ws") + f"api/sessions/{name}/live"
        with pytest.raises(websockets.exceptions.InvalidStatus):
            async with websockets.connect(url, origin="http://evil.example"):
                pass

    asyncio.run(connect())


def test_a_large_or_slow_body_is_refused(client, address):
    assert client.post("/api/sessions", content=b"x" * 2_000_000).status_code == 413

    def endless():
        for _ in range(3000):
            yield b"x" * 1000

    assert client.post("/api/sessions", content=endless()).status_code in (400, 413)
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as slow:
        slow.sendall(
            b"POST /api/sessions HTTP/1.1\r\nHost: " + f"{host}:{port}".encode() + b"\r\nContent-Length: 10\r\n\r\n{"
        )
        start = time.monotonic()
        assert b" 408 " in slow.recv(1000)
        assert time.monotonic() - start < 20


def test_a_client_that_sends_no_request_is_cut(address):
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as slow:
        slow.sendall(b"GET / HT")
        assert slow.recv(1000) == b""


def opened(server):
    host, _, port = server.address.removeprefix("http://").rstrip("/").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def is_cut(link):
    try:
        while link.recv(1_000_000):
            pass
    except ConnectionResetError:
        pass
    return True  # else it has waited too long


def test_a_client_that_sends_half_a_request_after_a_whole_one_is_cut(monkeypatch):
    monkeypatch.setattr(connections, "_SECONDS", 0.2)
    with Server() as server, opened(server) as link:
        host = server.address.removeprefix("http://").rstrip("/")
        link.sendall(f"GET /api/info HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert b"200 OK" in link.recv(20)
        link.sendall(b"GET /api")
        assert is_cut(link)


def test_a_client_that_does_not_read_its_answer_is_cut(monkeypatch):
    monkeypatch.setattr(connections, "_SECONDS", 0.2)
    with Server() as server, opened(server) as link:
        host = server.address.removeprefix("http://").rstrip("/")
        server._app.add_api_route("/api/large", lambda: Response(b"x" * 50_000_000))
        link.sendall(f"GET /api/large HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        end = time.monotonic() + 20
        while not (known := server._server.server_state.connections) and time.monotonic() < end:
            time.sleep(0.01)
        while known and time.monotonic() < end:
            time.sleep(0.05)
        assert not known
        read = httpx.get(server.address + "api/large")  # one that reads gets everything
        assert len(read.content) == 50_000_000


def test_forged_addresses_and_wrong_tokens_do_not_get_around_the_limit_of_requests(monkeypatch):
    monkeypatch.setattr(security, "_BURST", 10.0)
    monkeypatch.setattr(security, "_RATE", 0.1)
    with Server() as server, httpx.Client(base_url=server.address) as client:
        forged = [{"x-forwarded-for": f"10.0.0.{number}"} for number in range(20)]
        assert 429 in {client.get("/api/info", headers=one).status_code for one in forged}
    with Server(token="secret") as server, httpx.Client(base_url=server.address.partition("?")[0]) as client:
        wrong = [{"authorization": f"Bearer {number}"} for number in range(20)]
        assert {client.get("/api/info", headers=one).status_code for one in wrong} == {401, 429}


def test_what_does_not_exist_has_an_error_like_all_others(client):
    for method, path, status in (("GET", "/nowhere", 404), ("PUT", "/api/info", 405)):
        answer = client.request(method, path)
        assert answer.status_code == status
        assert set(answer.json()) == {"error", "field"}
    answer = client.post("/api/sessions", content=b"nothing", headers={"content-type": "application/json"})
    assert answer.json() == {"error": "the request: JSON decode error", "field": None}


def test_answers_have_a_strict_policy_and_no_path_is_opened(client):
    headers = client.get("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    for path in ("/assets/..%2f..%2fapp.py", "/assets/%2e%2e/app.py", "/../../etc/passwd"):
        assert client.get(path).status_code == 404


def test_a_token_is_needed_if_there_is_one():
    with Server(token="secret") as server:
        address, plain = server.address, server.address.partition("?")[0]
        assert httpx.get(plain + "api/info").status_code == 401
        assert httpx.get(plain + "api/info", headers={"authorization": "Bearer wrong"}).status_code == 401
        assert httpx.get(plain + "api/info", headers={"authorization": "Bearer secret"}).status_code == 200
        with httpx.Client() as browser:
            assert browser.get(address).status_code == 200
            assert browser.get(plain + "api/info").status_code == 200  # by the cookie


def test_a_request_waits_for_its_search_up_to_a_limit():
    options = Options(threads=1, limits=Limits(wait=0.02, jobs=1))
    with Server(options) as server, httpx.Client(base_url=server.address) as client:
        name = begin(client)["session"]
        answer = client.post(
            f"/api/sessions/{name}/what-if", json={"rule": "uct(c=1.0)", "visits": 20_000, "seeds": 16}
        )
        assert answer.status_code == 408
        assert "ask for fewer visits" in answer.json()["error"]
        assert client.get(f"/api/sessions/{name}").status_code == 200


def test_a_request_that_waits_is_answered_when_the_server_ends():
    with ThreadPoolExecutor() as pool, httpx.Client(timeout=30) as client:
        with Server(Options(threads=1)) as server:
            client.base_url = server.address
            name = begin(client)["session"]
            content = {"rule": "uct(c=1.0)", "visits": 20_000, "seeds": 16}
            waiting = pool.submit(httpx.post, f"{server.address}api/sessions/{name}/what-if", json=content, timeout=30)
            session = server._app.state.treetop.sessions.find(name)
            while not session._jobs:
                time.sleep(0.01)
        answer = waiting.result()
    assert answer.status_code == 400
    assert "closed" in answer.json()["error"]


def test_answers_do_not_wait_for_acknowledgements():
    with Server() as server:
        assert server._socket.proto == socket.IPPROTO_TCP  # asyncio sets TCP_NODELAY on such sockets only


def test_other_addresses_need_a_token():
    with pytest.raises(ConfigError, match="give a --token"):
        Server(host="0.0.0.0")


def test_a_server_on_all_addresses_is_reached_by_any_name_with_the_token():
    with Server(host="0.0.0.0", token="secret") as server:
        port = server.address.partition("?")[0].rstrip("/").rpartition(":")[2]
        url, good = f"http://127.0.0.1:{port}/api/info", {"authorization": "Bearer secret"}
        assert httpx.get(url, headers={**good, "host": "my-machine.lan:8000"}).status_code == 200
        assert httpx.get(url, headers={"host": "my-machine.lan:8000"}).status_code == 401
        foreign = {**good, "host": "my-machine.lan:8000", "origin": "http://evil.example"}
        assert httpx.get(url, headers=foreign).status_code == 403


@pytest.mark.parametrize("token", ["", "a b", "a&b", "a;b", "a\r\nb", "\u00e9"])
def test_a_token_that_cannot_stand_in_an_address_is_refused(token):
    with pytest.raises(ConfigError, match="--token must be letters"):
        Server(token=token)


def test_a_rule_that_cannot_be_read_is_refused_at_the_start():
    with pytest.raises(ConfigError, match="no rule 'magic'"):
        Server(Options(rule="magic"))


def test_a_port_in_use_is_an_error_that_names_it(address):
    port = int(address.rstrip("/").rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"port {port}: .*choose another --port"):
        Server(port=port)


def test_a_game_of_the_users_own_is_served():
    options = Options(game=tt.load_game("nim(stones=7)"), threads=1)
    with Server(options) as server, httpx.Client(base_url=server.address) as client:
        assert client.post("/api/sessions", json={}).json()["position"]["game"] == "nim(stones=7)"


def test_a_game_in_pgn_or_sgf_can_begin(client):
    pgn = '[White "A"]\n\n1. e4 e5 (1... c5) 2. Nf3 {good} *'
    view = client.post("/api/sessions", json={"record": pgn}).json()
    assert (view["position"]["game"], view["line"]) == ("chess", ["e2e4", "e7e5", "g1f3"])
    sgf = "(;GM[1]SZ[9]KM[6.5]AB[cc][gg];W[ee];B[])"
    view = client.post("/api/sessions", json={"record": sgf}).json()
    assert (view["position"]["game"], view["line"]) == ("go(size=9, komi=6.5)", ["E5", "pass"])
    for given, words in (
        ({"record": "1. e5 *"}, "line 1: move 1 ('e5' of player 0) is not a legal move"),
        ({"record": ""}, "there is no game in the text"),
        ({"record": "1. e4 *", "game": "chess"}, "leave out the others"),
        ({"record": '[Variant "os:system"]\n\n*'}, "is not a bundled game"),
    ):
        answer = client.post("/api/sessions", json=given)
        assert answer.status_code == 400
        assert words in answer.json()["error"]
