"""Events of a training run for TensorBoard: an event hook that writes its files."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any

from treetop.errors import MissingExtraError
from treetop.train.acceptance import Accepted
from treetop.train.events import Event
from treetop.train.ratings import Rated

FOLDER = "tensorboard"


def need_tensorboard() -> Any:
    """Return the class that writes event files; raise MissingExtraError where TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("event files need the package tensorboard", extra="tensorboard") from error
    return SummaryWriter


class TensorBoard(AbstractContextManager["TensorBoard"]):
    """Write each event of a run into `tensorboard/` in its folder; `tensorboard --logdir FOLDER` shows them.

    Needs `pip install -e ".[tensorboard]"`.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         with tt.train.TensorBoard(folder) as hook:
    ...             hook(tt.train.Rated(1, 60.0, {"random": 0.9}))
    ...     except tt.errors.MissingExtraError:
    ...         pass
    """

    def __init__(self, folder: str | Path) -> None:
        self._writer = need_tensorboard()(str(Path(folder) / FOLDER))

    def __call__(self, event: Event) -> None:
        """Write the numbers of an event."""
        for name, value in _numbers(event).items():
            if value is not None:
                self._writer.add_scalar(name, value, event.iteration)
        self._writer.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()


def _numbers(event: Event) -> dict[str, float | None]:
    """Return the numbers of an event by their names in TensorBoard, where the part before the slash is a group."""
    if isinstance(event, Rated):
        elo = dict(zip(("elo/elo", "elo/low", "elo/high"), event.elo or (), strict=False))
        kept = {f"value_kept/{name}": event.accuracy[name] for name in ("policy", "search") if name in event.accuracy}
        return {**elo, **kept, **{f"score/{anchor}": score for anchor, score in event.scores.items()}}
    if isinstance(event, Accepted):
        return {"acceptance/score": event.score, "acceptance/accepted": float(event.accepted)}
    return {
        "loss/policy": event.policy_loss,
        "loss/value": event.value_loss,
        "games/length": event.length,
        "games/first_player": event.first_player,
        "games/policy_entropy": event.entropy,
        "run/games": event.games,
        "run/positions": event.positions,
        "run/steps": event.steps,
        "run/positions_per_second": event.rate,
        "run/minutes": event.seconds / 60,
    }
