"""Where units are done: in this process, in processes of this machine, or on a Ray cluster.

`on` is None or "processes" for this machine, "ray" for the cluster that runs here (else a local instance of Ray), or
"ray://host:port" for the client server of a cluster.
"""

from __future__ import annotations

import re
from typing import Any

from treetop.errors import ConfigError
from treetop.workers.processes import Processes, cores
from treetop.workers.sending import Luggage
from treetop.workers.transport import InProcess, Transport
from treetop.workers.units import Setup

_ADDRESS = re.compile(r"ray://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):(?P<port>[0-9]{1,5})")


def on_cluster(on: str | None) -> bool:
    """Return whether the units are done on a Ray cluster; raise ConfigError if `on` names no place.

    >>> on_cluster(None), on_cluster("processes"), on_cluster("ray"), on_cluster("ray://10.0.0.1:10001")
    (False, False, True, True)
    """
    if on is None or on == "processes":
        return False
    if on == "ray" or (isinstance(on, str) and address_of(on) is not None):
        return True
    raise ConfigError(f"on must be 'processes', 'ray' or an address such as 'ray://10.0.0.1:10001', not {on!r}")


def address_of(on: str) -> tuple[str, int] | None:
    """Return the host and the port of "ray://host:port", or None.

    >>> address_of("ray://10.0.0.1:10001"), address_of("ray")
    (('10.0.0.1', 10001), None)
    """
    found = _ADDRESS.fullmatch(on)
    if found is None or not 0 < int(found["port"]) < 65536:
        return None
    return found["host"].strip("[]"), int(found["port"])


def in_this_process(on: str | None, workers: int | None) -> bool:
    """Return whether the units are done in this process, without workers."""
    return not on_cluster(on) and (cores() if workers is None else workers) <= 1


def transport_for(
    on: str | None, setup: Setup, arguments: tuple[Any, ...], workers: int | None, luggage: Luggage
) -> Transport:
    """Return the transport to a place, connected."""
    if not on_cluster(on):
        return (InProcess if in_this_process(on, workers) else Processes)(setup, arguments)
    from treetop.workers.cluster import Cluster
    from treetop.workers.connection import connected

    assert on is not None
    return Cluster(connected(on, workers), setup, arguments, workers, luggage)
