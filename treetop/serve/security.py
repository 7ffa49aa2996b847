"""Who may talk to the server, and how much: hosts, origins, a token, sizes, rates, and headers of answers."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "treetop_token"
_MOST_BODY = 2**20
_BODY_SECONDS = 10.0  # that a client may take to send a body
_RATE, _BURST = 200.0, 400.0  # requests a second of one client, and at once
_MOST_CLIENTS = 10_000
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class RefusedError(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class _Bucket:
    """What is left of a client's requests."""

    left: float
    time: float


class Gate:
    """The outermost layer of the server: it refuses requests before anything else sees them.

    `hosts` are the values of the header Host that are accepted (a page of another name cannot reach a server on this
    machine; None accepts all), `token` is needed by every request, if it is given.
    """

    def __init__(self, app: App, hosts: frozenset[str] | None, token: str | None = None) -> None:
        self._app, self._hosts, self._token = app, hosts, token
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            self._refuse_strangers(scope, headers)
            self._refuse_many(scope)
            fresh = self._refuse_without_token(scope, headers)
            if scope["type"] == "http":
                receive = await _whole_body(headers, receive)
        except RefusedError as refused:
            await _refuse(scope, receive, send, refused)
            return
        await self._app(scope, receive, self._with_headers(send, fresh) if scope["type"] == "http" else send)

    def _refuse_strangers(self, scope: Scope, headers: dict[str, str]) -> None:
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if self._hosts is not None and host not in self._hosts:
            raise RefusedError(421, "this server is not called by that name")
        if origin is not None and _host_of(origin) != host:
            raise RefusedError(403, "requests from pages of other servers are refused")
        if scope["type"] == "websocket" and origin is None and headers.get("sec-fetch-site", "none") == "cross-site":
            raise RefusedError(403, "requests from pages of other servers are refused")

    def _refuse_without_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Refuse requests without the token; return whether it came in the address, and becomes a cookie."""
        if self._token is None:
            return False
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(given):
            return False
        try:
            cookie = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookie = SimpleCookie()
        if COOKIE in cookie and self._is_token(cookie[COOKIE].value):
            return False
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if self._is_token(asked):
            return True
        raise RefusedError(401, "this server needs its token: open the address that it printed")

    def _is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())

    def _refuse_many(self, scope: Scope) -> None:
        """Refuse a client that asks too often: a bucket that fills at a steady rate."""
        client, now = (scope.get("client") or ("?",))[0], time.monotonic()
        bucket = self._buckets.setdefault(client, _Bucket(_BURST, now))
        self._buckets.move_to_end(client)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        bucket.left, bucket.time = min(_BURST, bucket.left + _RATE * (now - bucket.time)), now
        if bucket.left < 1.0:
            raise RefusedError(429, "too many requests: wait a second")
        bucket.left -= 1.0

    def _with_headers(self, send: Send, fresh: bool) -> Send:
        async def wrapped(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                own += [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                if fresh:
                    own.append((b"set-cookie", f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/".encode()))
                message = {**message, "headers": own}
            await send(message)

        return wrapped


def _host_of(origin: str) -> str | None:
    """Return the host and the port of an origin; None where there are none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


async def _whole_body(headers: dict[str, str], receive: Receive) -> Receive:
    """Read the body of a request, within a size and a time, and return what gives it to the application."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > _MOST_BODY:
        raise RefusedError(413, f"a request has at most {_MOST_BODY:,} bytes")
    body, messages = b"", list[MutableMapping[str, Any]]()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    messages.append(message)
                    break
                body += message.get("body", b"")
                if len(body) > _MOST_BODY:
                    raise RefusedError(413, f"a request has at most {_MOST_BODY:,} bytes")
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise RefusedError(408, "the request took too long") from None
    messages.insert(0, {"type": "http.request", "body": body, "more_body": False})

    async def again() -> MutableMapping[str, Any]:
        return messages.pop(0) if messages else await receive()

    return again


async def _refuse(scope: Scope, receive: Receive, send: Send, refused: RefusedError) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": str(refused)[:120]})
        return
    content = json.dumps({"error": str(refused), "field": None}).encode()
    headers = {
        **_HEADERS,
        "content-type": "application/json",
        "content-length": str(len(content)),
        "connection": "close",
    }
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})
