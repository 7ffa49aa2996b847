"""Connections of clients: HTTP, with time limits for the heads of requests and for reading the answers; their end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_SECONDS = 10.0  # between two looks at a connection
_LEAST = 65_536  # bytes of an answer that a client takes meanwhile


class Protocol(H11Protocol):
    """A connection that is closed if the head of a request does not end, or if its client does not read an answer."""

    def connection_made(self, transport: Any) -> None:
        """Begin a connection."""
        super().connection_made(transport)
        self._seen: tuple[Any, bool, int] = None, True, 0
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._next.cancel()
        super().connection_lost(exc)

    def _look_later(self) -> None:
        self._next = asyncio.get_running_loop().call_later(_SECONDS, self._look)

    def _look(self) -> None:
        """Close the connection if nothing has moved since the last look."""
        transport: Any = self.transport
        if transport.get_protocol() is not self:  # it is a websocket now, which has limits of its own
            return
        request: Any = self.cycle  # the last one with a complete head
        in_head = self.timeout_keep_alive_task is None and (request is None or request.response_complete)
        unsent = transport.get_write_buffer_size()
        before, was_in_head, unsent_before = self._seen
        if request is before and unsent_before and unsent > max(0, unsent_before - _LEAST):
            transport.abort()  # `close` would wait until everything is sent
            return
        if request is before and in_head and was_in_head and not transport.is_closing():
            transport.close()
        self._seen = request, in_head, unsent
        self._look_later()


class Connections(uvicorn.Server):
    """All connections of a server. `ending` is called before they are closed: what requests wait for ends there."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], object]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer the requests that wait, and close all connections."""
        self._ending()
        await super().shutdown(sockets)
