"""A server in a thread of the test process."""

from __future__ import annotations

import contextlib
import threading

from treetop.serve.app import Options
from treetop.serve.server import run_server


@contextlib.contextmanager
def serving(options=None, **settings):
    """Run a server in a thread; yield its address."""
    import uvicorn

    address, found, servers = threading.Event(), [], []
    original = uvicorn.Server.__init__

    def noted(self, config):
        original(self, config)
        servers.append(self)

    uvicorn.Server.__init__ = noted
    uvicorn.Server.capture_signals = contextlib.contextmanager(lambda self: (yield))

    def ready(text):
        found.append(text)
        address.set()

    thread = threading.Thread(
        target=run_server, args=(options or Options(threads=1),), kwargs={"port": 0, "ready": ready, **settings}
    )
    thread.start()
    try:
        assert address.wait(30)
        yield found[0]
    finally:
        uvicorn.Server.__init__ = original
        servers[-1].should_exit = True
        thread.join(30)
        assert not thread.is_alive()
