"""Run the server: an address, a token, time limits of connections."""

from __future__ import annotations

import asyncio
import errno
import re
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from treetop.errors import ConfigError, MissingExtraError
from treetop.serve.security import Gate

if TYPE_CHECKING:
    from treetop.serve.app import Options

_MOST_CONNECTIONS = 1000
_MOST_MESSAGE = 4096  # bytes of a message of a client over a websocket
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_ALL = ("", "0.0.0.0", "::")  # addresses that stand for all of a machine
LOCAL = ("127.0.0.1", "localhost", "::1")


class Server:
    """A server of the page. `run` serves until Ctrl-C; inside a `with` block it serves in a thread of its own.

    Port 0 takes any free one. An address that other machines can reach needs a token.

    >>> with Server() as server:
    ...     server.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self, options: Options | None = None, *, host: str = "127.0.0.1", port: int = 0, token: str | None = None
    ) -> None:
        try:
            import uvicorn

            from treetop.serve.app import create_app
            from treetop.serve.connections import Connections, Protocol
        except ImportError as error:
            raise MissingExtraError("the server needs FastAPI, uvicorn and websockets", extra="serve") from error
        host = host.lower()
        if token is not None and not _TOKEN.fullmatch(token):
            raise ConfigError(
                "--token must be letters, digits, '-', '_', '.' and '~', since it is a part of an address"
            )
        if host not in LOCAL and token is None:
            raise ConfigError(
                f"--host {host!r} can be reached from other machines: give a --token, or leave --host out"
            )
        self._socket = _socket(host, port)
        bound = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        names = {shown, *(f"[{name}]" if ":" in name else name for name in LOCAL)}
        # A server on all addresses has any name; a page of another server that gives it one does not have the token.
        hosts = (
            None if host in _ALL else frozenset({f"{one}:{bound}" for one in names} | (names if bound == 80 else set()))
        )
        self.address = f"http://{shown}:{bound}/" + (f"?token={token}" if token else "")
        """The address of the page."""
        try:
            self._app = create_app(options)
        except BaseException:
            self._socket.close()
            raise
        config = uvicorn.Config(
            Gate(self._app, hosts, token), host=host, port=bound, log_level="warning", access_log=False, http=Protocol,
            ws="websockets-sansio", ws_max_size=_MOST_MESSAGE, limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=30, timeout_graceful_shutdown=2, server_header=False, date_header=False, lifespan="off",
            proxy_headers=False,
        )  # fmt: skip
        self._server = Connections(config, self._app.state.treetop.sessions.end_jobs)
        self._thread: threading.Thread | None = None

    def run(self, ready: Callable[[str], object] = lambda _: None) -> None:
        """Serve until Ctrl-C. `ready` is called with the address as soon as the page can be opened."""

        async def serve() -> None:
            task = asyncio.create_task(self._server.serve([self._socket]))
            while not self._server.started and not task.done():
                await asyncio.sleep(0.01)
            if self._server.started:
                ready(self.address)
            await task

        hangup = getattr(signal, "SIGHUP", None)
        in_main = threading.current_thread() is threading.main_thread()
        if hangup is not None and in_main and signal.getsignal(hangup) is signal.default_int_handler:
            signal.signal(hangup, self._server.handle_exit)  # as uvicorn handles Ctrl-C
        try:
            with suppress(KeyboardInterrupt):
                asyncio.run(serve())
        finally:
            self._app.state.treetop.close()
            self._socket.close()

    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(target=self.run, args=(lambda _: started.set(),), name="treetop-server")
        self._thread.start()
        while not started.wait(0.1):
            if not self._thread.is_alive():
                raise ConfigError("the server could not be started")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()


def _socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise ConfigError where the address cannot be used."""
    # With the protocol named, asyncio sends what is written at once; else each answer waits 40 ms for the client's ACK.
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)
    except (OSError, OverflowError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or error
        hint = (
            ": choose another --port, or 0 for any free one" if getattr(error, "errno", 0) == errno.EADDRINUSE else ""
        )
        raise ConfigError(f"the server cannot listen on --host {host}, port {port}: {reason}{hint}") from None
    return found
