"""Records of evaluations made elsewhere: one JSON line for each, in the order of their absorption.

A search depends only on the answers, on their order, and on the time at which a clock or Ctrl-C ended it, which the
last line states. So a replay of a record is the same search, bit for bit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from treetop.errors import SaveError
from treetop.files import parse_json, read_bytes
from treetop.search.problems.calls import Answer, Call

_VERSION = 1


class Recorder:
    """A writer of records. Every line is on disk before the next evaluation starts."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        try:
            self._file: TextIO = path.open("x", encoding="utf-8")
        except FileExistsError:
            raise SaveError(f"{path} exists already: give another file for the record") from None
        except OSError as error:
            raise SaveError(f"{path} cannot be written: {error}") from error
        self._write({"treetop": "record", "version": _VERSION, **header})

    def note(self, call: Call, answer: Answer) -> None:
        """Write one call, when it is absorbed."""
        line: dict[str, Any] = {"call": call.number, "at": call.name}
        line |= (
            {"error": answer.error} if answer.error is not None else {"prior": answer.prior, "values": answer.values}
        )
        line |= {} if answer.note is None else {"note": answer.note}
        line |= {"where": answer.where} if answer.where else {}
        self._write({**line, "cost": answer.cost, "seconds": round(answer.seconds, 6), "attempts": answer.attempts})

    def stop(self, why: str, checks: int, marks: list[int]) -> None:
        """Write the end: the reason, the number of checks of the clock, and `Remote._marks`."""
        self._write({"stopped": why, "looks": checks, "marks": marks})

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, allow_nan=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Replay:
    """A source of answers from a record."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self._path = path
        lines = _read(path)
        if not lines or lines[0].get("treetop") != "record":
            raise SaveError(f"{path} is not a record of evaluations")
        if lines[0].get("version") != _VERSION:
            raise SaveError(f"{path} has version {lines[0].get('version')}; this Treetop reads version {_VERSION}")
        wanted = json.loads(json.dumps(header))
        for name, value in wanted.items():
            if lines[0].get(name) != value:
                raise SaveError(
                    f"{path} was recorded with {name} = {lines[0].get(name)!r}, but this search has {value!r}"
                )
        self.end: dict[str, Any] | None = lines.pop() if "stopped" in lines[-1] else None
        if self.end is not None and not (
            isinstance(self.end["stopped"], str)
            and _is_count(self.end.get("looks"))
            and isinstance(self.end.get("marks"), list)
        ):
            raise SaveError(f"{path} is damaged in its last line")
        self._answers = iter(lines[1:])
        self._open: dict[int, Call] = {}

    async def open(self) -> None:
        """Do nothing: the file has been read."""

    def start(self, call: Call) -> None:
        """Note a call, which a later line answers."""
        self._open[call.number] = call

    async def next(self, timeout: float | None) -> tuple[Call, Answer] | None:  # noqa: ARG002
        """Return the next answer of the record; None at its end."""
        line = next(self._answers, None)
        if line is None:
            return None
        number = line.get("call")
        call = self._open.pop(number, None) if isinstance(number, int) else None
        if call is None or line.get("at") != call.name:
            raise SaveError(
                f"{self._path} does not fit this search: it answers call {line.get('call')} at {line.get('at')}"
                + (", which was not made" if call is None else f", and that call is at {call.name}")
            )
        return call, self._answer(call, line)

    def _answer(self, call: Call, line: dict[str, Any]) -> Answer:
        """Return the answer to a call, checked like an evaluator's answer."""
        missing = [name for name in ("cost", "seconds", "attempts") if not _is_count(line.get(name))]
        if (
            missing
            or not isinstance(line.get("error"), str | None)
            or not isinstance(line["attempts"], int)
            or line["attempts"] < 1
        ):
            raise SaveError(
                f"{self._path} is damaged: call {call.number} has no valid "
                f"{', '.join(missing) or 'error or number of attempts'}"
            )
        answer = Answer(
            line.get("prior"),
            line.get("values", []),
            line["cost"],
            line["seconds"],
            line["attempts"],
            line.get("error"),
            line.get("note"),
            str(line.get("where", "")),
        )
        if answer.error is None:
            try:
                call.check(answer.prior, answer.values)
            except Exception as error:
                raise SaveError(
                    f"{self._path} is damaged: the answer to call {call.number} does not fit: {error}"
                ) from error
        return answer

    async def close(self) -> None:
        """Do nothing: no evaluation is in flight."""


def _is_count(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _read(path: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    whole = read_bytes(path).split(b"\n")[:-1]  # an incomplete last line was never absorbed
    for number, line in enumerate(whole, 1):
        try:
            plain = parse_json(line)
        except ValueError:
            raise SaveError(f"{path} is damaged in line {number}") from None
        if not isinstance(plain, dict):
            raise SaveError(f"{path} is damaged in line {number}")
        lines.append(plain)
    return lines
