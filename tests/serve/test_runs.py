"""The folder of --runs over HTTP: what it holds, how it grows, games to replay, and files that are no such thing."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")

import httpx

import treetop as tt
from treetop.arena import match_many
from treetop.arena.log import read_match
from treetop.errors import ConfigError
from treetop.serve import run_folder, run_training
from treetop.serve.app import Options
from treetop.serve.run_files import MOST_BYTES, Lines, scan
from treetop.serve.run_folder import Folder
from treetop.serve.run_training import MOST_POINTS
from treetop.serve.server import Server
from treetop.train.events import Iteration, read_events
from treetop.train.folder import append_line

RUN = Path(__file__).parent / "data" / "othello"  # a few lines of a real run
QUICK = {"seed": 3, "workers": 1, "opening_plies": 2, "balanced": False}


@tt.game(players=2, num_actions=3, max_length=9)
class Climb:
    """Take turns to add 1, 2 or 3; whoever reaches 9 wins."""

    total: int = tt.field("i1")
    player: int = tt.field("i1")

    def reset(self):
        self.total = 0
        self.player = 0

    def legal_actions(self, out):
        count = min(3, 9 - self.total)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.total += action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.total == 9

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    shutil.copytree(RUN, path / "othello")
    sprt = tt.arena.Sprt(0, 200)
    tt.match("greedy", "random", "tic_tac_toe", games=12, out=path / "match.jsonl", sprt=sprt, **QUICK)
    tt.match("random", "greedy", "pig", games=2, out=path / "pig.jsonl", seed=1, workers=1)
    tt.match("random", "random", "goofspiel", games=2, out=path / "goofspiel.jsonl", seed=1, workers=1)
    tt.match("random", "random", Climb, games=4, out=path / "own.jsonl", **QUICK)
    tt.evaluate("scoundrel", ["random", "greedy"], games=3, seed=1, workers=1, out=path / "scores.jsonl")
    match_many(["random"] * 3, "nim_three", games=3, out=path / "many.jsonl", **QUICK)
    players = {"weak": "random", "strong": "greedy", "other": "random"}
    tt.tournament(players, "tic_tac_toe", games=4, out=path / "cup", **QUICK)
    return path


@pytest.fixture(scope="module")
def client(root):
    with Server(Options(threads=1, runs=root)) as server, httpx.Client(base_url=server.address, timeout=30) as made:
        yield made


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder, "_FRESH", -1.0)  # every request scans the folder
    return tmp_path


def listed(client) -> dict[str, dict]:
    answer = client.get("/api/runs").json()
    while answer["waiting"]:
        answer = client.get("/api/runs").json()
    return {row["name"]: row for row in answer["entries"]}


def detail(client, name: str) -> dict:
    return client.get(f"/api/runs/{listed(client)[name]['id']}").json()


def rows(folder: Path) -> dict[str, dict]:
    return {row["name"]: row for row in Folder(folder).rows()["entries"]}


def test_the_list_has_every_kind_with_its_last_result(client):
    found = listed(client)
    assert {name: row["kind"] for name, row in found.items()} == {
        "othello": "training", "match.jsonl": "match", "pig.jsonl": "match", "goofspiel.jsonl": "match",
        "own.jsonl": "match", "many.jsonl": "match", "scores.jsonl": "evaluation", "cup": "tournament",
    }  # fmt: skip
    assert [row["error"] for row in found.values()] == [None] * 8
    assert found["othello"]["game"] == "othello(size=6)"
    assert found["othello"]["result"].startswith("Elo +")
    assert {found[name]["state"] for name in ("pig.jsonl", "cup", "scores.jsonl", "many.jsonl")} == {"finished"}
    assert found["cup"]["amount"] == "12 games"


def test_curves_of_a_training_run_have_times_values_and_intervals(client):
    charts = {chart["title"]: chart for chart in detail(client, "othello")["charts"]}
    iterations = [event for event in read_events(RUN) if isinstance(event, Iteration)]
    length = charts["Length of games"]
    assert length["x"] == pytest.approx([event.seconds / 60 for event in iterations], rel=1e-5)
    assert length["series"][0]["values"] == pytest.approx([event.length for event in iterations], rel=1e-5)
    assert len(charts["Loss"]["x"]) == len(iterations) - 1  # the first iteration has no loss
    elo = charts["Elo, with 95% intervals"]["series"][0]
    assert len(elo["values"]) == 2
    assert all(low < value < high for low, value, high in zip(elo["low"], elo["values"], elo["high"], strict=True))
    anchors = [level["name"] for level in charts["Elo, with 95% intervals"]["levels"]]
    assert anchors[0] == "random"
    assert {series["name"] for series in charts["Score against"]["series"]} == set(anchors)
    assert charts["Exact positions: value kept"]["series"][0]["low"][0] > 0.5


def test_long_curves_are_sent_as_means(folder):
    shutil.copytree(RUN, folder / "run")
    first = next(event for event in read_events(RUN) if isinstance(event, Iteration))
    with (folder / "run" / "metrics.jsonl").open("w") as file:
        for number in range(1, 2 * MOST_POINTS + 1):
            event = replace(first, iteration=number, seconds=60.0 * number, length=float(number))
            file.write(json.dumps({"event": "iteration", **asdict(event)}) + "\n")
    shown = Folder(folder)
    charts = shown.detail(shown.rows()["entries"][0]["id"])["charts"]
    length = next(chart for chart in charts if chart["title"] == "Length of games")
    assert len(length["x"]) == MOST_POINTS
    assert length["series"][0]["values"][:2] == [1.5, 3.5]


def test_a_match_shows_its_score_its_elo_and_its_test(client, root):
    found = detail(client, "match.jsonl")
    header, records = read_match(root / "match.jsonl")
    assert header["games"] == 12
    assert header["sprt"]["elo1"] == 200
    wins = sum(record["score"] == 1 for record in records)
    assert found["tables"][0]["rows"][0][:2] == ["greedy", str(wins)]
    assert "LLR" in found["facts"]["SPRT"]
    elo, llr = found["charts"]
    assert elo["x"][-1] == len(records)
    assert llr["levels"][0]["value"] == pytest.approx(tt.arena.Sprt(0, 200).upper)


def test_a_tournament_has_one_scale_and_leads_to_its_matches(client):
    found = detail(client, "cup")
    table = found["tables"][0]
    assert table["rows"][0][0].split()[1] == "strong"
    assert found["charts"][0]["rows"][0]["low"] is not None
    assert "weak = 0" in found["charts"][0]["unit"]
    pairing = next(link for link in table["links"][0] if link)
    inner = client.get(f"/api/runs/{pairing}").json()
    assert inner["kind"] == "match"
    assert inner["tournament"] == found["id"]
    assert len(found["parts"]) == 3


@pytest.mark.parametrize("name", ["match.jsonl", "pig.jsonl", "goofspiel.jsonl", "scores.jsonl", "many.jsonl"])
def test_a_game_is_replayed_as_it_was_played(client, root, name):
    _, records = read_match(root / name)
    entry, record = listed(client)[name]["id"], records[1]
    answer = client.post(f"/api/runs/{entry}/games/1/replay")
    assert answer.status_code == 201, answer.text
    session, opening = answer.json()["session"], answer.json()["opening"]
    assert (session["ply"], opening) == (len(record.get("opening", [])),) * 2
    last = client.post(f"/api/sessions/{session['session']}/go", json={"ply": session["plies"]}).json()
    assert last["position"]["over"]
    assert len(last["line"]) == last["plies"]
    rewards = record.get("returns") or [record["rewards"][letter] for letter in record["seats"]]
    assert last["position"]["returns"] == rewards
    if name == "match.jsonl":
        assert last["line"] == record["opening_moves"] + record["moves"]
    client.delete(f"/api/sessions/{session['session']}")


def test_games_are_listed_in_pages_and_shown_with_their_moves(client, root):
    _, records = read_match(root / "match.jsonl")
    entry = listed(client)["match.jsonl"]["id"]
    page = client.get(f"/api/runs/{entry}/games", params={"first": 4, "count": 3}).json()
    assert page["numbers"] == [4, 5, 6]
    assert page["total"] == len(records)
    game = client.get(f"/api/runs/{entry}/games/5").json()
    assert game["moves"] == records[5]["moves"]
    assert game["opening"] == records[5]["opening_moves"]
    assert game["seats"] == [{"A": "greedy", "B": "random"}[letter] for letter in records[5]["seats"]]


def test_a_game_of_the_users_own_needs_the_server_of_that_game(client, root):
    entry = listed(client)["own.jsonl"]["id"]
    refused = client.post(f"/api/runs/{entry}/games/0/replay")
    assert refused.status_code == 400
    assert "start the server with this game" in refused.json()["error"]
    assert client.get(f"/api/runs/{entry}/games/0").json()["moves"]
    with Server(Options(game=Climb, threads=1, runs=root)) as server, httpx.Client(base_url=server.address) as own:
        answer = own.post(f"/api/runs/{entry}/games/0/replay")
        assert answer.status_code == 201
        assert answer.json()["session"]["position"]["game"].endswith("Climb")


def test_a_growing_file_is_followed_and_a_torn_line_waits(folder, root):
    content = (root / "match.jsonl").read_bytes()
    whole = content.splitlines(keepends=True)
    file = folder / "match.jsonl"
    file.write_bytes(b"".join(whole[:4]) + whole[4][:50])
    shown = Folder(folder)
    entry = shown.rows()["entries"][0]["id"]
    before = shown.version(entry)
    assert shown.rows()["entries"][0]["amount"] == "3 of 12 games"
    file.write_bytes(b"".join(whole[:6]))
    assert shown.version(entry)["entry"] != before["entry"]
    assert shown.rows()["entries"][0]["amount"] == "5 of 12 games"
    assert shown.rows()["entries"][0]["state"] == "stopped"
    (folder / "match.jsonl.lock").touch()  # as a match has it while it runs
    assert shown.rows()["entries"][0]["state"] == "running"
    file.write_bytes(b"".join(whole[:3]))  # another file in its place
    assert shown.rows()["entries"][0]["amount"] == "2 of 12 games"


def test_a_running_training_is_followed(folder):
    shutil.copytree(RUN, folder / "run")
    shown = Folder(folder)
    entry = shown.rows()["entries"][0]["id"]
    os.utime(folder / "run" / "metrics.jsonl", (1e9, 1e9))
    os.utime(folder / "run" / "run.json", (1e9, 1e9))
    assert shown.detail(entry)["state"] == "stopped"  # nothing was written for a long time
    (folder / "run" / "metrics.jsonl").touch()
    before = shown.version(entry)["entry"]
    assert shown.detail(entry)["state"] == "running"
    last = [event for event in read_events(RUN) if isinstance(event, Iteration)][-1]
    with (folder / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"event": "iteration", "iter')  # left by a crash
    append_line(folder / "run" / "metrics.jsonl", {"event": "iteration", **asdict(replace(last, games=123_456))})
    assert shown.version(entry)["entry"] != before
    assert shown.detail(entry)["facts"]["games"] == "123,456"
    (folder / "run" / "report.html").write_text("")  # written at the end
    assert shown.detail(entry)["state"] == "stopped"


@pytest.mark.parametrize(
    "path", ["%2e%2e", "..%2f..%2fetc%2fpasswd", "match.jsonl", "0" * 16, "%00", "cup/../match.jsonl", "a" * 5000]
)
def test_paths_of_clients_are_never_opened(client, path):
    for what in ("", "/games", "/games/0"):
        assert client.get(f"/api/runs/{path}{what}").status_code in (404, 422)
    assert client.post(f"/api/runs/{path}/games/0/replay").status_code in (404, 422)
    assert client.get("/api/runs/version", params={"entry": path[:40]}).status_code == 200
    entry = listed(client)["match.jsonl"]["id"]
    assert client.get(f"/api/runs/{entry}/games/99").status_code == 404
    assert client.get(f"/api/runs/{entry}/games/-1").status_code == 422


def test_links_and_other_files_are_left_out(folder, root):
    shutil.copy(root / "match.jsonl", folder)
    (folder / "linked.jsonl").symlink_to(root / "match.jsonl")
    (folder / "cup").symlink_to(root / "cup")
    (folder / "run").mkdir()
    (folder / "run" / "run.json").symlink_to(root / "othello" / "run.json")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "notes.jsonl").write_text('{"text": "something else"}\n')
    (folder / "empty.jsonl").write_text("")
    assert list(rows(folder)) == ["match.jsonl"]
    lines = Lines(folder, "linked.jsonl")
    with pytest.raises(tt.TreetopError, match="links are not followed"):
        lines.is_replaced()


HEADER = {"kind": "a match", "version": 1, "game": "tic_tac_toe", "names": ["a", "b"], "seed": 1}
GAME = {
    "index": 0, "pair": 0, "score": 1.0, "seats": ["A", "B"], "opening": [], "forfeit": None,
    "rewards": {"A": 1.0, "B": -1.0},
}  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([b"\xff\xfe garbage"], "no file of games"),
        ([{**HEADER, "names": 7}], "names no players"),
        ([{**HEADER, "names": ["a", "b", "c"]}], "has not 3 players"),
        ([{**HEADER, "names": ["a"] * 1000}], "too many players"),
        ([{**HEADER, "seed": "1"}], "no game and seed"),
        ([{**HEADER, "version": 99}], "version 99"),
        ([HEADER, {**GAME, "score": {}}], "damaged"),
        ([HEADER, {**GAME, "seats": ["A", "Z"]}], "damaged"),
        ([HEADER, {**GAME, "rewards": {"A": 1e400, "B": 0}}, GAME], "damaged"),
        ([HEADER, b"[" * 100_000, GAME], "damaged"),
        ([HEADER, b'{"index": ' + b"9" * 5000 + b"}", GAME], "damaged"),
        ([{**HEADER, "kind": "a match of many", "names": ["a", "b", "c"]}, {**GAME, "round": 0}], "damaged"),
        ([HEADER, {**GAME, "reason": "x" * 2_000_000}], "a line of more than"),
    ],
)
def test_a_hostile_file_gets_an_error_and_does_not_hurt_the_others(folder, root, lines, message):
    shutil.copy(root / "match.jsonl", folder / "good.jsonl")
    content = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    (folder / "bad.jsonl").write_bytes(b"".join(line + b"\n" for line in content))
    found = rows(folder)
    assert message in found["bad.jsonl"]["error"]
    assert found["good.jsonl"]["error"] is None
    shown = Folder(folder)
    assert message in shown.detail(found["bad.jsonl"]["id"])["error"]


def test_a_file_of_a_gigabyte_is_not_read(folder, root):
    shutil.copy(root / "match.jsonl", folder / "good.jsonl")
    shutil.copy(root / "match.jsonl", folder / "huge.jsonl")
    shutil.copytree(RUN, folder / "run")
    for name in ("huge.jsonl", "run/metrics.jsonl", "zeros.jsonl"):
        with (folder / name).open("ab") as file:
            file.truncate(2**30 if name != "zeros.jsonl" else MOST_BYTES - 1)
    found = rows(folder)
    assert "too large" in found["huge.jsonl"]["error"]
    assert "too large" in found["run"]["error"]
    assert "a line of more than" in found["zeros.jsonl"]["error"]
    assert found["good.jsonl"]["error"] is None


@pytest.mark.parametrize("header", ["{", "[]", '{"kind": "a training run", "game": 3, "options": {}}', "x" * 2_000_000])
def test_a_damaged_run_gets_an_error(folder, header):
    shutil.copytree(RUN, folder / "run")
    (folder / "run" / "run.json").write_text(header)
    assert rows(folder)["run"]["error"]


def test_a_file_of_empty_lines_is_not_read_to_its_end(folder, monkeypatch):
    monkeypatch.setattr(run_training, "_MOST_LINES", 1000)
    shutil.copytree(RUN, folder / "run")
    with (folder / "run" / "metrics.jsonl").open("a") as file:
        file.write("\n" * 2000)
    assert "more than 1,000 lines" in rows(folder)["run"]["error"]


def test_hostile_metrics_are_left_out(folder):
    shutil.copytree(RUN, folder / "run")
    with (folder / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"event": "rated", "iteration": 1, "seconds": 1e999, "scores": {}}\n')
        file.write('{"event": "iteration", "iteration": [], "seconds": {}}\n[]\n"\\ud800"\n')
        players = {f"p{number}": 0.5 for number in range(2000)}
        file.write(json.dumps({"event": "rated", "iteration": 1, "seconds": 1.0, "scores": players}) + "\n")
    shown = Folder(folder)
    entry = shown.rows()["entries"][0]["id"]
    found = shown.detail(entry)
    assert found["error"] is None
    assert len(found["tables"][0]["head"]) < 12


def test_a_record_that_the_rules_refuse_is_shown_as_text(folder):
    games = [{**GAME, "opening": [4], "actions": [4], "moves": ["b2"]}, {**GAME, "index": 1, "actions": [{}, "x"]}]
    content = "".join(json.dumps(line) + "\n" for line in (HEADER, *games))
    (folder / "odd.jsonl").write_text(content)
    with Server(Options(threads=1, runs=folder)) as server, httpx.Client(base_url=server.address) as client:
        entry = listed(client)["odd.jsonl"]["id"]
        refused = client.post(f"/api/runs/{entry}/games/0/replay")
        assert refused.status_code == 400
        assert "does not fit the rules of tic_tac_toe: move 2" in refused.json()["error"]
        assert client.get(f"/api/runs/{entry}/games/0").json()["moves"] == ["b2"]
        assert client.post(f"/api/runs/{entry}/games/1/replay").status_code == 400


def test_a_folder_with_more_than_is_shown_says_so(folder, monkeypatch):
    for number in range(30):
        (folder / f"{number}.jsonl").write_text(json.dumps(HEADER) + "\n")
    monkeypatch.setattr("treetop.serve.run_files._MOST_LOOKED_AT", 20)
    found = Folder(folder).rows()
    assert found["cut"]
    assert len(found["entries"]) <= 20
    assert scan(folder).cut


def test_without_a_folder_the_list_says_so():
    with Server(Options(threads=1)) as server, httpx.Client(base_url=server.address) as client:
        assert client.get("/api/runs").json()["folder"] is None
        refused = client.get(f"/api/runs/{'0' * 16}")
        assert refused.status_code == 404
        assert "--runs" in refused.json()["error"]
    with pytest.raises(ConfigError, match="there is no folder"):
        Folder("no_such_folder")
