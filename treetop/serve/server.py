"""Run the server: an address, a token, time limits of connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from treetop.errors import ConfigError, MissingExtraError
from treetop.serve.security import Gate

_HEADER_SECONDS = 10.0  # in which a client must have sent the head of its first request
_MOST_CONNECTIONS = 1000
_MOST_MESSAGE = 4096  # bytes of a message of a client over a websocket
LOCAL = ("127.0.0.1", "localhost", "::1")


def run_server(
    options: Any, *, host: str = "127.0.0.1", port: int = 8000, token: str | None = None,
    ready: Callable[[str], object] = lambda _: None,
) -> None:  # fmt: skip
    """Serve until Ctrl-C. `ready` is called with the address of the page; port 0 takes any free one.

    An address of another machine's network needs a token.
    """
    try:
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol

        from treetop.serve.app import create_app
    except ImportError as error:
        raise MissingExtraError("the server needs FastAPI, uvicorn and websockets", extra="serve") from error
    if host not in LOCAL and not token:
        raise ConfigError(f"{host} can be reached from other machines: give a --token, or leave --host out")

    class Protocol(H11Protocol):
        """HTTP, with a time limit for the head of the first request."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.head_timer = self.loop.call_later(_HEADER_SECONDS, self._end_if_idle)

        def _end_if_idle(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.close()

    listening = _socket(host, port)
    bound = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    names = {shown, *(f"[{name}]" if ":" in name else name for name in LOCAL)}
    hosts = frozenset({f"{name}:{bound}" for name in names} | (names if bound == 80 else set()))
    app = create_app(options)
    config = uvicorn.Config(
        Gate(app, hosts, token), host=host, port=bound, log_level="warning", access_log=False, http=Protocol,
        ws="websockets-sansio", ws_max_size=_MOST_MESSAGE, limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=30,
        timeout_graceful_shutdown=2, server_header=False, date_header=False,
    )  # fmt: skip
    server = uvicorn.Server(config)
    address = f"http://{shown}:{bound}/" + (f"?token={token}" if token else "")

    async def serve() -> None:
        task = asyncio.create_task(server.serve([listening]))
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready(address)
        await task

    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serve())
    finally:
        app.state.treetop.close()
        listening.close()


def _socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise ConfigError where the address cannot be used."""
    try:
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.socket(kind)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"the server cannot listen on {host}, port {port}: {error}") from None
    return found
