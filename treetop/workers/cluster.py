"""Workers on a Ray cluster: one actor each, which runs a process on its machine (`relay.py`).

Ray starts actors, carries bytes, and reports lost machines. Units, deadlines, attempts and the order of work stay with
the pool, as for processes.
"""

from __future__ import annotations

import contextlib
import importlib
import pickle
import time
import warnings
from collections.abc import Sequence
from typing import Any

from treetop.workers import relay
from treetop.workers.connection import Connection, allow_reports, connection_needed, one_line
from treetop.workers.processes import Cancel, Dismiss, SetUp
from treetop.workers.sending import Luggage, files_for, pack
from treetop.workers.transport import Broken, Died, Message, Raised, Ready
from treetop.workers.units import Setup, Unit, WorkerError

_GRACE = 5.0  # seconds that a machine has to end a process
_STARTS = 10.0  # seconds until an actor that has not started is waiting for a CPU
_LOOKS = 1.0  # seconds between two looks at actors that have not started
_GROUPS = {"open": "requests", "send": "requests", "receive": "answers", "end": "end"}
"""The methods of an actor, by threads: those of one group are called one after the other, in order."""


class RayWorker:
    """An actor on some machine of the cluster, and the process that it runs."""

    def __init__(self, ray: Any, actor: Any, setup: Setup, order: dict[str, Any]) -> None:
        self._ray, self._actor, self._setup = ray, actor, setup
        self._host: str | None = None
        """The name of its machine, when it has one."""
        self._started = time.monotonic()
        self._ready = self._lost = self._ended = False
        self._message: Message | None = None
        self.call: Any = actor.open.remote(order)
        """The call of the actor that returns next."""

    @property
    def placed(self) -> bool:
        """Whether it runs on a machine."""
        return self._host is not None

    @property
    def queued(self) -> bool:
        """Whether it has been waiting for a CPU for a while."""
        return not self.placed and time.monotonic() - self._started > _STARTS

    @property
    def has_message(self) -> bool:
        """Whether `receive` returns a message at once."""
        return self._message is not None

    def collect(self) -> None:
        """Take the value of the call that has returned."""
        try:
            value = self._ray.get(self.call)
        except self._ray.exceptions.RayTaskError as error:  # an exception of the actor's own code
            self._message = Broken(None, f"{self._host or 'a machine'}: {one_line(error, -1)}", str(error))
            return
        except self._ray.exceptions.RayError as error:
            self._lost = True
            self._message = Died(f"the machine {self._host or 'of a worker'} was lost ({one_line(error)})", lost=True)
            return
        if isinstance(value, dict):
            self._host = value["host"]
            if value["problem"] is not None:
                self._message = Broken(WorkerError(value["problem"]), value["problem"], "")
                return
        elif isinstance(value, str):
            self._message = Died(f"{value}, on {self._host}")
            return
        else:
            self._message = self._read(value)
        self.call = self._actor.receive.remote()

    def _read(self, answer: bytes) -> Message:
        try:
            message: Message = pickle.loads(answer)
        except Exception as error:  # noqa: BLE001 - a class that this machine lacks
            reason = f"the value cannot be read here: {type(error).__name__}: {error}"
            return Raised(reason, "") if self._ready else Broken(None, reason, "")
        self._ready = self._ready or isinstance(message, Ready)
        return message

    def receive(self) -> Message:
        """Return the next message."""
        message, self._message = self._message, None
        assert message is not None
        return message

    def send(self, unit: Unit) -> None:
        """Send a unit."""
        self._tell(pack(unit, f"the unit {unit.id}")[0])

    def set_up(self, arguments: tuple[Any, ...]) -> None:
        """Ask the worker to be set up again."""
        self._tell(_packed_setup(self._setup, arguments)[0])

    def cancel(self) -> None:
        """Ask the worker to skip the units it was given."""
        self._tell(pickle.dumps(Cancel()))

    def _tell(self, request: bytes) -> None:
        if not self._lost:
            with connection_needed():
                self._actor.send.remote(request)

    def dismiss(self) -> None:
        """Ask an idle process to end."""
        with contextlib.suppress(WorkerError):  # without a connection the cluster ends it
            self._tell(pickle.dumps(Dismiss()))

    def end(self, patience: float = 0.0) -> None:
        """End the process and everything it started, and then the actor."""
        if self._ended:
            return
        self._ended = True
        with contextlib.suppress(Exception):  # without a connection the cluster ends them
            if self.placed and not self._lost:
                self._ray.wait([self._actor.end.remote(patience)], timeout=patience + _GRACE)
            self._ray.kill(self._actor)


class Cluster:
    """Start actors as workers."""

    def __init__(
        self, connection: Connection, setup: Setup, arguments: tuple[Any, ...], workers: int | None, luggage: Luggage
    ) -> None:
        self._connection, self._setup, self._luggage = connection, setup, luggage
        self.arguments = arguments
        self._package = importlib.import_module("treetop")
        self._digest = relay.sources_digest(self._package)
        self.capacity = connection.cpus
        self._warned = workers is not None and workers > connection.cpus
        if self._warned:
            warnings.warn(
                f"{workers} workers were requested, and {connection.where} has {connection.cpus} "
                f"CPU{'s' * (connection.cpus != 1)}: the others wait until CPUs are free or machines join",
                stacklevel=2,
            )
        ray = connection.ray
        ray.cloudpickle.register_pickle_by_value(relay)  # for machines without this version of Treetop
        options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
        for method, group in _GROUPS.items():
            ray.method(concurrency_group=group)(getattr(relay.Relay, method))
        self._relay = ray.remote(concurrency_groups=dict.fromkeys(_GROUPS.values(), 1), **options)(relay.Relay)

    def start(self) -> RayWorker:
        """Return a new actor."""
        first, modules = _packed_setup(self._setup, self.arguments)
        order = {
            "version": self._package.__version__,
            "digest": self._digest,
            "files": files_for(self._luggage, modules),
            "first": first,
        }
        with connection_needed():
            return RayWorker(self._connection.ray, self._relay.remote(), self._setup, order)

    def wait(self, workers: Sequence[RayWorker], timeout: float | None) -> list[RayWorker]:
        """Return the workers that have a message. While some have not started, return none after a while."""
        ray, by_call = self._connection.ray, {worker.call: worker for worker in workers if not worker.has_message}
        waiting = [worker for worker in workers if not worker.placed]
        until = timeout if not waiting else _LOOKS if timeout is None else min(timeout, _LOOKS)
        with connection_needed():
            done, rest = ray.wait(list(by_call), num_returns=1, timeout=until)
            more = ray.wait(rest, num_returns=len(rest), timeout=0)[0] if done and rest else []
            for call in (*done, *more):
                by_call[call].collect()
        self._notice(waiting, len(workers))
        return [worker for worker in workers if worker.has_message]

    def _notice(self, waiting: Sequence[RayWorker], workers: int) -> None:
        """Warn once of workers that have been waiting for a CPU."""
        count = sum(worker.queued for worker in waiting)
        if count and (not self._warned or count == workers):
            self._warned = True
            warnings.warn(
                f"{count} of {workers} workers have no CPU of {self._connection.where} yet: they wait until CPUs are "
                "free or machines join",
                stacklevel=2,
            )

    def close(self) -> None:
        """Disconnect, if the connection was made for these workers; that ends a local instance."""
        if self._connection.owned:
            self._connection.ray.shutdown()
            allow_reports(self._connection.ray, True)


def _packed_setup(setup: Setup, arguments: tuple[Any, ...]) -> tuple[bytes, set[str]]:
    """Return the pickled request to be set up, and the modules that it names."""
    payload, modules = pack((setup, arguments), "the setup of a worker")
    return pickle.dumps(SetUp(payload)), modules
