"""The connection to a Ray cluster: made within seconds, or refused with a reason."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treetop.errors import ConfigError, MissingExtraError, TreetopError
from treetop.workers.places import address_of
from treetop.workers.processes import cores
from treetop.workers.units import WorkerError

_ANSWERS = 10.0  # seconds in which an address must answer
_OBJECTS = 80 * 2**20  # bytes of Ray's object store in a local instance: messages are small
_CLIENTS = 2  # attempts to get a process of the client server
_QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}


@dataclass(frozen=True)
class Connection:
    """A connection to a cluster."""

    ray: Any
    """The package."""
    where: str
    """The cluster, for people."""
    cpus: int
    owned: bool
    """Whether it was made here and is closed at the end."""


def connected(on: str, workers: int | None) -> Connection:
    """Return a connection to "ray" or "ray://host:port". If no cluster runs here, "ray" starts one on this machine.

    A program that is connected already stays so, and "ray" uses that connection.
    """
    ray = _package()
    if ray.is_initialized():
        if on != "ray":
            raise ConfigError(f"this program is connected to a Ray cluster already: use on='ray' for it, not {on!r}")
        return Connection(ray, "the Ray cluster", _cpus(ray), owned=False)
    on = _meant(on)
    address = address_of(on)
    if address is not None:
        _probe(on, *address)
    running = address is None and _runs_here(ray)
    allow_reports(ray, False)
    try:
        with _signals_kept(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Ray, beside the exception
            if address is not None:
                _reach(ray, on)
            elif running:
                on = "the Ray cluster"
                ray.init("auto", **_QUIET)
            else:
                on, count = "a local instance of Ray", cores() if workers is None else max(workers, 1)
                ray.init("local", num_cpus=count, include_dashboard=False, object_store_memory=_OBJECTS, **_QUIET)
        return Connection(ray, on, _cpus(ray), owned=True)
    except BaseException as error:
        with contextlib.suppress(Exception):
            ray.shutdown()
        allow_reports(ray, True)
        if isinstance(error, TreetopError) or not isinstance(error, Exception):
            raise
        raise WorkerError(
            f"Ray cannot connect to {on} ({one_line(error, -1)}): both sides need the same versions of Ray and Python, "
            "and the token of a cluster that asks for one (RAY_AUTH_MODE=token)"
        ) from error


def _package() -> Any:
    try:
        import grpc  # noqa: F401 - the client of "ray://" needs it, and Ray itself brings it only as ray[client]
        import ray
        import ray.cloudpickle
        import ray.exceptions
    except ImportError as error:
        raise MissingExtraError(f"work on a cluster needs the package Ray ({error})", extra="ray") from error
    return ray


def _meant(on: str) -> str:
    """Return the place that "ray" means: RAY_ADDRESS, if it names a client server."""
    named = os.environ.get("RAY_ADDRESS", "")
    if on != "ray" or "://" not in named:
        return on
    if address_of(named) is None:
        raise ConfigError(f"RAY_ADDRESS must be host:port or ray://host:port, not {named!r}")
    return named


def _dial(on: str, host: str, port: int, advice: str) -> None:
    """Raise WorkerError unless something answers: Ray itself would try again for minutes."""
    try:
        socket.create_connection((host, port), _ANSWERS).close()
    except OSError as error:
        raise WorkerError(f"nothing answers at {on} ({error.strerror or error}): {advice}") from error


def _probe(on: str, host: str, port: int) -> None:
    """Raise WorkerError unless a server of Ray's kind answers."""
    import grpc

    advice = (
        "run `ray start --head` there, and use the port of Ray's client server, 10001 unless "
        "--ray-client-server-port names another"
    )
    _dial(on, host, port, advice)
    if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
        return  # an answer needs a certificate
    with grpc.insecure_channel(f"{f'[{host}]' if ':' in host else host}:{port}") as channel:
        try:
            grpc.channel_ready_future(channel).result(_ANSWERS)
        except grpc.FutureTimeoutError:
            raise WorkerError(f"what answers at {on} is not a client server of Ray: {advice}") from None


def _reach(ray: Any, on: str) -> None:
    """Connect to the client server of a cluster. Sometimes it fails to start its own process, and the next time not."""
    for _ in range(_CLIENTS - 1):
        with contextlib.suppress(ConnectionAbortedError):
            ray.init(on, **_QUIET)
            return
    ray.init(on, **_QUIET)


def _runs_here(ray: Any) -> bool:
    """Return whether RAY_ADDRESS names a cluster or one runs on this machine: Ray would wait minutes for a dead one."""
    services = getattr(ray._private, "services", None)
    find = getattr(services, "canonicalize_bootstrap_address", None)
    if find is None:  # another version of Ray
        return True
    try:
        address = str(find("auto"))
    except ConnectionError:
        return False
    except ValueError as error:
        raise ConfigError(f"RAY_ADDRESS must be host:port or ray://host:port ({error})") from error
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        raise ConfigError(f"RAY_ADDRESS must be host:port or ray://host:port, not {address!r}")
    try:
        _dial(f"{address}, which RAY_ADDRESS names", host.strip("[]"), int(port), "run `ray start --head` there")
    except WorkerError:
        if os.environ.get("RAY_ADDRESS"):
            raise
        return False  # the file of a cluster that has crashed
    return True


def allow_reports(ray: Any, allowed: bool) -> None:
    """Let Ray print reports of the cluster, such as lost machines, or not: it prints them to stdout, among the results.

    Only Ray's debugger has a switch for that.
    """
    worker: Any = getattr(getattr(ray, "_private", None), "worker", None)
    if hasattr(worker, "_worker_logs_enabled"):
        worker._worker_logs_enabled = allowed


def _cpus(ray: Any) -> int:
    count = int(ray.cluster_resources().get("CPU", 0))
    if not count:
        raise ConfigError("the Ray cluster has no CPUs for workers: add machines, or start Ray with --num-cpus")
    return count


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Restore the handlers of signals, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # else it is not Python's
                signal.signal(number, handler)


@contextlib.contextmanager
def connection_needed() -> Iterator[None]:
    """Turn exceptions of Ray, which may be of any class, into WorkerError."""
    try:
        yield
    except TreetopError:
        raise
    except Exception as error:
        raise WorkerError(
            f"the connection to the Ray cluster was lost ({one_line(error)}); with a file for the results, the same "
            "command continues, on a cluster or without"
        ) from error


def one_line(error: BaseException, number: int = 0) -> str:
    """Return the class of an exception and one line of its text."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[number]}" if lines else type(error).__name__
