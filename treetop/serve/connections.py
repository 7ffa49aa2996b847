"""Connections of clients: HTTP, with a time limit for the head of the first request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD_SECONDS = 10.0


class Protocol(H11Protocol):
    """A connection that is closed if no request comes."""

    def connection_made(self, transport: Any) -> None:
        """Begin a connection."""
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(_HEAD_SECONDS, self._end_if_idle)

    def _end_if_idle(self) -> None:
        begun: Any = self.cycle  # None until the head of a request is complete
        if begun is None and not self.transport.is_closing():
            self.transport.close()
