"""Games with hidden information: nothing that a person may not know can be read, by any request, before the end."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")

from fastapi.testclient import TestClient

from treetop.serve.app import Options, create_app

ANSWERED = {
    "/api/sessions/{name}/analysis": {"get": None},
    "/api/sessions/{name}/tree": {"get": None},
    "/api/sessions/{name}": {"get": None, "delete": None},
    "/api/sessions/{name}/play": {"post": {"move": "nothing"}},
    "/api/sessions/{name}/go": {"post": {"ply": 0}},
    "/api/sessions/{name}/line": {"post": {"moves": ["call"], "ply": 0}},
    "/api/sessions/{name}/think": {"post": {"visits": 20, "rule": "uct"}},
    "/api/sessions/{name}/stop": {"post": {}},
    "/api/sessions/{name}/record": {
        "post": {"visits": 20, "detailed": 5, "rule": "uct(information='determinizations')"}
    },
    "/api/sessions/{name}/what-if": {"post": {"visits": 20, "seeds": 1, "rule": "uct"}},
    "/api/sessions/{name}/review": {"post": {"visits": 20}, "get": None},
}
"""A request for each endpoint of a session; a new endpoint belongs here."""
ENGINE = {"visits": 1, "rule": "uct", "play": True}
"""An engine that has no time to make use of its cards, so that its moves do not show them."""


class Table:
    """A game of one person against the engine, from a seed; everything that the server answers is noted."""

    def __init__(self, client, game, seed):
        self.client, self.heard = client, []
        made = client.post("/api/sessions", json={"game": game, "seed": seed, "people": [0]}).json()
        self.name, self.secrets = made["session"], (made["session"], made["seed"])
        self.note("begin", made)

    def call(self, method, path, content=None):
        """Make a request, and note its answer."""
        url = f"/api/sessions/{self.name}" + path
        answer = self.client.request(method, url, **({} if content is None else {"json": content}))
        self.note(f"{method} {path} {content}", answer.json())
        return answer.status_code

    def note(self, what, answer):
        name, seed = self.secrets
        if answer.get("session"):  # the name, and the seed that the person chose
            assert (answer.pop("session"), answer.pop("seed")) == (name, seed)
        answer.pop("preparing", None)  # how fast the search begins depends on the machine
        self.heard.append((what, answer))

    def quiet(self):
        """Wait until no search runs; return the game as it stands."""
        end = time.monotonic() + 60
        while (view := self.client.get(f"/api/sessions/{self.name}").json())["thinking"]:
            assert time.monotonic() < end
            time.sleep(0.005)
        return view

    def read_everything(self):
        """Make all requests that search and read, in games of which nothing may be known."""
        for path, methods in ANSWERED.items():
            for method, content in methods.items():
                if method != "delete":
                    self.call(method, path.removeprefix("/api/sessions/{name}"), content)
                    self.quiet()
        analysis = self.client.get(f"/api/sessions/{self.name}/analysis").json()["analysis"]
        with self.client.websocket_connect(f"/api/sessions/{self.name}/live") as live:
            for _ in range(1 if analysis is None else 2):
                self.note("live", live.receive_json())


@pytest.fixture(scope="module")
def client():
    app = create_app(Options(threads=1))
    with TestClient(app, base_url="http://127.0.0.1") as made:
        yield made
    app.state.treetop.close()


def deal(client, game, seed):
    """Return the cards of the person, of the engine, and the open one, from a session in which all is open."""
    moves = ["call", "call"] if game == "leduc_poker" else []
    made = client.post("/api/sessions", json={"game": game, "seed": seed, "people": [0, 1], "moves": moves}).json()
    client.delete(f"/api/sessions/{made['session']}")
    cards = [part["cards"][0]["face"] for part in made["position"]["board"] if part["kind"] == "cards"]
    return cards[0], cards[1], cards[2:]


def twins(client, game):
    """Return two seeds with the same cards but that of the engine."""
    known = []
    for seed in range(200):
        own, other, rest = deal(client, game, seed)
        for before, cards in known:
            if cards[0] == own and cards[2] == rest and cards[1][0] != other[0]:
                return before, seed
        known.append((seed, (own, other, rest)))
    raise AssertionError("no two deals are alike")


def play_through(table):
    """Play a game, with every request at each turn, twice: before and after a search; stop before its end is shown."""
    for _ in range(8):
        view = table.quiet()
        assert view["people"] == [0]
        table.read_everything()
        table.call("post", "/go", {"ply": view["ply"]})
        table.read_everything()
        table.call("post", "/go", {"ply": view["ply"]})
        if view["position"]["player"] == 1:
            assert view["position"]["legal"] == []
            assert table.call("post", "/play", {"move": "call"}) == 400
            assert table.call("post", "/think", {**ENGINE, "only": ["raise"]}) == 400
            assert table.call("post", "/think", ENGINE) == 202
        else:
            table.client.post(f"/api/sessions/{table.name}/play", json={"move": view["position"]["legal"][-1]["move"]})
        if table.quiet()["position"]["over"]:
            return
    raise AssertionError("the game does not end")


def test_every_endpoint_is_covered(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    of_sessions = {path: set(methods) for path, methods in paths.items() if path.startswith("/api/sessions/")}
    assert of_sessions == {path: set(methods) for path, methods in ANSWERED.items()}


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker"])
def test_what_can_be_read_does_not_depend_on_the_cards_of_the_opponent(client, game):
    first, second = (Table(client, game, seed) for seed in twins(client, game))
    play_through(first)
    play_through(second)
    assert len(first.heard) > 50
    for one, other in zip(first.heard, second.heard, strict=True):
        assert one == other


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker"])
@pytest.mark.parametrize("play", [False, True])
def test_no_search_with_perfect_information_is_made_before_the_end(client, game, play):
    name = client.post("/api/sessions", json={"game": game, "people": [0]}).json()["session"]
    rule = {"rule": "uct(information='perfect')", "visits": 20}
    for path, content in (("think", {**rule, "play": play}), ("record", rule), ("what-if", rule)):
        answer = client.post(f"/api/sessions/{name}/{path}", json=content)
        assert answer.status_code == 400
        assert "would show hidden information" in answer.json()["error"]
    shown = client.post("/api/sessions", json={"game": game, "people": [0, 1]}).json()["session"]
    assert client.post(f"/api/sessions/{shown}/think", json=rule).status_code == 202


def test_a_seed_that_the_server_has_drawn_is_secret_until_the_end(client):
    made = client.post("/api/sessions", json={"game": "kuhn_poker", "people": [0]}).json()
    assert made["seed"] is None
    open_game = client.post("/api/sessions", json={"game": "kuhn_poker", "people": [0, 1]}).json()
    assert isinstance(open_game["seed"], int)


def test_everything_is_open_at_the_end(client):
    made = client.post(
        "/api/sessions", json={"game": "kuhn_poker", "people": [0], "seed": 3, "moves": ["pass", "pass"]}
    )
    view = made.json()
    assert view["position"]["over"]
    assert view["line"]
    address = f"/api/sessions/{view['session']}"
    assert client.post(f"{address}/review", json={"visits": 20}).status_code == 202
    assert client.post(f"{address}/go", json={"ply": 1}).json()["position"]["player"] == 1
    assert client.post(f"{address}/what-if", json={"visits": 20, "seeds": 1, "rule": "uct"}).status_code == 200
