"""Fuzz the server of `treetop serve`: random requests and messages, strangers, large, endless, slow and broken ones.

`python fuzz/server.py --requests 10000`; `--quick` leaves out what waits for time limits.

The server runs in a process of its own. A failure is an answer 5xx, a traceback, an answer other than the expected one,
the end of the server, or memory that grows. Requests of the schema are made by schemathesis.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx
import websockets

TOKEN = "a-secret"
GAMES = ("tic_tac_toe", "nim", "kuhn_poker", None)
RULES = ("uct", "uct(solver=True)", "uct(information='determinizations')", "gumbel", None)
MOVES = ("a1", "b2", "c3", "1", "2", "pass", "bet")
_MOST_GROWTH = 60.0  # MB of the server, from the first third of the requests to the end
_HUGE = 100 * 2**20
_PARTS = ("method", "url", "params", "headers", "json", "data")  # of a request of schemathesis


@dataclass
class Target:
    """A running server, and what it has answered."""

    address: str
    process: subprocess.Popen[str]
    rng: random.Random
    names: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def place(self) -> tuple[str, int]:
        """The host and the port."""
        host, _, port = self.address.removeprefix("http://").rstrip("/").partition(":")
        return host, int(port)

    @property
    def host(self) -> str:
        """The value of the header Host."""
        return self.address.removeprefix("http://").rstrip("/")

    def note(self, what: str, status: int | str, text: str = "", *, wanted: tuple[int | str, ...] = ()) -> None:
        """Count an answer; note a failure."""
        self.counts[f"{what}: {status}"] += 1
        wrong = status not in wanted if wanted else isinstance(status, int) and status >= 500
        if wrong or "Traceback" in text:
            self.failures.append(f"{what}: {status} {text[:300]}")

    def memory(self) -> float:
        """Return the memory of the server, in MB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024

    def client(self) -> httpx.Client:
        """Return a client with the token."""
        return httpx.Client(base_url=self.address, timeout=60, headers={"authorization": f"Bearer {TOKEN}"})

    def head(self, *lines: str, method: str = "POST") -> bytes:
        """Return the start of a request with the token, and some more lines."""
        first = f"{method} /api/sessions HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        return (first + "".join(line + "\r\n" for line in lines)).encode()


def serve() -> None:
    """Run a server with small limits, and print its address."""
    from treetop.serve.app import Options
    from treetop.serve.limits import Limits
    from treetop.serve.server import Server

    limits = Limits(sessions=20, nodes=50_000, total_nodes=500_000, seconds=1.0, games=8, wait=2.0)
    Server(Options(threads=1, limits=limits), token=TOKEN).run(lambda address: print(address, flush=True))


@contextmanager
def serving(seed: int) -> Iterator[Target]:
    """Run the server in a process of its own."""
    process = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().partition("?")[0].strip()
        if not address:
            raise SystemExit("the server has not started")
        yield Target(address, process, random.Random(seed))
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def begin(target: Target, client: httpx.Client) -> str:
    """Begin a game; return the name of its session."""
    answer = client.post("/api/sessions", json={"game": target.rng.choice(GAMES[:3])})
    target.note("begin", answer.status_code, answer.text, wanted=(201,))
    name = str(answer.json()["session"])
    target.names = [*target.names, name][-20:]
    return name


# Requests of the schema.


def schema(target: Target, requests: int) -> None:
    """Make random requests of the OpenAPI schema, right and wrong ones, most of them to sessions that exist."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    with target.client() as client:
        described = client.get("/api/openapi.json").json()
        loaded = schemathesis.openapi.from_dict(described)
        operations = [found.ok() for found in loaded.get_all_operations()]
        modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
        cases = st.one_of([one.as_strategy(generation_mode=mode) for one in operations for mode in modes])

        @seed(target.rng.randrange(2**32))
        @settings(
            max_examples=requests, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=cases)
        def run(case: Any) -> None:
            _adapt(target, client, case)
            made = case.as_transport_kwargs(base_url=target.address)
            known = {
                name: made[name] for name in ("method", "url", "params", "headers", "json", "data") if name in made
            }
            answer = _send(client, known)
            if answer is not None:
                target.note(f"{case.method} {case.path}", answer.status_code, answer.text)
                if answer.status_code == 201 and "session" in answer.json():  # else it is a proof
                    target.names = [*target.names, answer.json()["session"]][-20:]

        run()


def _send(client: httpx.Client, known: dict[str, Any]) -> httpx.Response | None:
    """Send a request; return None where a client cannot even write it."""
    headers = {**known.pop("headers", {}), "authorization": f"Bearer {TOKEN}"}
    data = known.pop("data", None)
    try:
        request = client.build_request(
            **known, headers=headers, content=data if isinstance(data, str | bytes) else None
        )
    except (ValueError, TypeError, UnicodeError, httpx.InvalidURL):
        return None
    try:
        return client.send(request)
    except (httpx.LocalProtocolError, UnicodeError):
        return None


def _adapt(target: Target, client: httpx.Client, case: Any) -> None:
    """Give a request what random values do not hit: a session that exists, a game, a rule, a move."""
    rng = target.rng
    if case.path_parameters and rng.random() < 0.8:
        case.path_parameters["name"] = rng.choice(target.names) if target.names else begin(target, client)
    if not isinstance(case.body, dict):
        return
    for name, values in (("game", GAMES), ("rule", RULES), ("move", MOVES)):
        if name in case.body and rng.random() < 0.7:
            case.body[name] = rng.choice(values)
    if case.path == "/api/sessions" and rng.random() < 0.6:
        for name in ("setup", "moves", "people"):
            case.body.pop(name, None)


# Websockets.


def messages(target: Target, connections: int) -> None:
    """Send random messages of random sizes over websockets."""

    async def connect(name: str) -> str:
        url = target.address.replace("http", "ws") + f"api/sessions/{name}/live"
        headers = {"authorization": f"Bearer {TOKEN}"}
        try:
            async with websockets.connect(url, additional_headers=headers) as live:
                for _ in range(target.rng.randrange(6)):
                    size = int(10 ** target.rng.uniform(0, 6))
                    content = target.rng.randbytes(size)
                    text = content.decode("latin-1") if target.rng.random() < 0.5 else json.dumps({"type": "x" * size})
                    await live.send(content if target.rng.random() < 0.5 else text)
                return f"{json.loads(await asyncio.wait_for(live.recv(), 30))['type']}"
        except websockets.exceptions.InvalidStatus as error:
            return f"refused {error.response.status_code}"
        except websockets.exceptions.ConnectionClosed as error:
            return f"closed {error.rcvd.code if error.rcvd else 'abruptly'}"

    with target.client() as client:
        for _ in range(connections):
            name = begin(target, client) if target.rng.random() < 0.2 or not target.names else target.names[-1]
            target.note("message", asyncio.run(connect(name if target.rng.random() < 0.9 else "nowhere")))


def slow_reader(target: Target, seconds: float) -> None:
    """Listen to a search without reading what comes."""
    with target.client() as client:
        name = begin(target, client)
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        head = f"GET /api/sessions/{name}/live HTTP/1.1\r\nHost: {target.host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        with socket.create_connection(target.place, timeout=30) as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            slow.sendall((head + "Connection: Upgrade\r\nUpgrade: websocket\r\n" + key + "\r\n").encode())
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                answer = client.post(f"/api/sessions/{name}/think", json={"visits": 2000, "seconds": 0.2})
                target.note("beside a slow reader", answer.status_code, answer.text, wanted=(202, 400))


# Strangers, and requests that are too large, too slow or broken.


def strangers(target: Target, requests: int) -> None:
    """Make requests without the token, by another name, or from another page; all are refused."""
    good = {"authorization": f"Bearer {TOKEN}"}
    kinds: list[tuple[dict[str, str], int]] = [
        ({}, 401), ({"authorization": "Bearer wrong"}, 401), ({"authorization": TOKEN[:-1]}, 401),
        ({"cookie": "treetop_token=wrong"}, 401), ({**good, "host": "evil.example"}, 421), ({**good, "host": ""}, 421),
        ({**good, "origin": "http://evil.example"}, 403), ({**good, "origin": "null"}, 403),
    ]  # fmt: skip
    paths = ("/", "/api/info", "/api/openapi.json", "/api/sessions/x/live", "/assets/index.js", "/../etc/passwd")
    with httpx.Client(base_url=target.address, timeout=30) as client:
        for number in range(requests):
            headers, status = kinds[number % len(kinds)]
            answer = client.request(
                target.rng.choice(("GET", "POST", "DELETE")), target.rng.choice(paths), headers=headers
            )
            target.note("stranger", answer.status_code, answer.text, wanted=(status, 429))
            if answer.status_code == 429:
                time.sleep(0.5)


def large(target: Target) -> None:
    """Send bodies of 100 MB: declared, in chunks, and without an end; each is refused long before it is read."""
    piece = b"x" * 65536
    for kind in ("declared", "chunked", "endless"):
        line = f"Content-Length: {_HUGE}" if kind == "declared" else "Transfer-Encoding: chunked"
        sent = 0
        with socket.create_connection(target.place, timeout=30) as link:
            link.sendall(target.head(line) + b"\r\n")
            with suppress(OSError):
                while kind == "endless" or sent < _HUGE:
                    link.sendall(piece if kind == "declared" else b"%x\r\n%s\r\n" % (len(piece), piece))
                    sent += len(piece)
            status = _status(link)
        target.note(f"body, {kind}", status, wanted=(413, "cut"))
        target.note(f"body, {kind}, was read", "in part" if sent < _HUGE // 2 else "to its end", wanted=("in part",))


def _status(link: socket.socket) -> int | str:
    """Return the status of an answer, or that the connection was cut."""
    try:
        words = link.recv(1000).split()
    except OSError:
        return "cut"
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else "cut"


def slow(target: Target, clients: int) -> None:
    """Send heads and bodies a byte at a time; all are cut, and others are served meanwhile."""
    links = [socket.create_connection(target.place, timeout=30) for _ in range(clients)]
    texts = [target.head("Content-Length: 100000") + (b"\r\n" if number % 2 else b"") for number in range(clients)]
    end, at = time.monotonic() + 25, 0
    with target.client() as client:
        while links and time.monotonic() < end:
            for link, text in list(zip(links, texts, strict=True)):
                link.setblocking(False)
                try:
                    link.send(text[at : at + 1] or b"x")
                    over = link.recv(1000)
                    target.note("slow", int(over.split()[1]) if over else "cut", wanted=(408, 400, "cut"))
                except BlockingIOError:
                    continue
                except OSError:
                    target.note("slow", "cut")
                link.close()
                texts.pop(links.index(link))
                links.remove(link)
            at += 1
            target.note("beside slow ones", client.get("/api/info").status_code, wanted=(200,))
            time.sleep(0.05 if at < 400 else 0.5)
    for link in links:
        target.note("slow", "never cut", wanted=("cut",))
        link.close()


def broken(target: Target, requests: int) -> None:
    """Send random bytes and parts of requests, and close connections in the middle, by halves or wholly."""
    rng = target.rng
    for _ in range(requests):
        whole = target.head("Content-Type: application/json", "Content-Length: 17") + b'\r\n{"game": "nim"}  '
        text = rng.choice((whole, whole[: rng.randrange(1, len(whole))], rng.randbytes(rng.randrange(1, 3000))))
        if rng.random() < 0.3:
            place = rng.randrange(len(text))
            text = text[:place] + rng.randbytes(3) + text[place:]
        with suppress(OSError), socket.create_connection(target.place, timeout=15) as link:
            link.sendall(text)
            kind = rng.choice(("half", "half", "closed"))
            if kind == "half":
                link.shutdown(socket.SHUT_WR)
                status = _status(link)
                target.note("broken", status)


def fuzz(target: Target, requests: int, *, quick: bool) -> tuple[float, float]:
    """Run everything; return the memory after the first third of the requests, and at the end."""
    with target.client() as client:
        for _ in range(3):
            begin(target, client)
    part = max(1, requests // 10)
    turns: list[Callable[[], None]] = [
        lambda: schema(target, requests * 6 // 30), lambda: messages(target, part // 3),
        lambda: strangers(target, part // 2), lambda: broken(target, part // 2),
    ]  # fmt: skip
    memory = 0.0
    for third in range(3):
        for turn in turns:
            turn()
        if third == 0:
            large(target)
            slow_reader(target, 0.5 if quick else 5.0)
            if not quick:
                slow(target, 20)
            memory = target.memory()
    return memory, target.memory()


def main() -> int:
    """Fuzz, and print what was answered."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="about so many (10,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="leave out what waits for time limits")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    start = time.monotonic()
    with serving(options.seed) as target:
        before = after = 0.0
        try:
            before, after = fuzz(target, options.requests, quick=options.quick)
        except Exception:  # noqa: BLE001 - such as a connection that the server has not answered
            target.failures.append(traceback.format_exc())
        alive = target.process.poll() is None
    for what, count in sorted(target.counts.items()):
        print(f"{what:60}{count:>8,}")
    total, grown = sum(target.counts.values()), after - before
    print(f"\n{total:,} requests in {time.monotonic() - start:.0f} s; memory {before:.0f} MB, then {after:.0f} MB")
    if not alive:
        target.failures.append(f"the server ended with {target.process.returncode}")
    if grown > _MOST_GROWTH:
        target.failures.append(f"the memory of the server grew by {grown:.0f} MB")
    for failure in target.failures[:20]:
        print(failure, file=sys.stderr)
    return 1 if target.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
