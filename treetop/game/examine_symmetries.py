"""Checks of symmetries: a transformed game is a game with the same players, ends, rewards and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.checks import shorten
from treetop.compiler.functions import CompiledFunction
from treetop.compiler.rng import Rng
from treetop.errors import MethodError
from treetop.game import probe
from treetop.game.contract import ContractError, as_whole, guard
from treetop.game.position import Position, make
from treetop.types import CHANCE, SIMULTANEOUS

if TYPE_CHECKING:
    from treetop.game.examiner import Examiner, Options

_TRANSFORMED = 100  # the number of states that are transformed in a check
_TRANSFORMED_IN_TRIAL = 40
_AT_START = 16  # the number of symmetries that are applied to the first position
_MAPPED = 4096  # the number of actions up to which all are mapped, not only the legal ones
_FOLLOWED = 3  # the number of actions after which two states are compared
_FOLLOWED_AGAIN = 12  # the same where a violation is known
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12  # the tolerances of rounded numbers


def examine_symmetries(examiner: Examiner, position: Position, rng: Rng, options: Options, mover: int) -> None:
    """Check one symmetry in a position, drawn at random; in the first position all of them, up to a number.

    After a violation only its symmetry is examined: a short game that shows it is searched for.
    """
    count = examiner.game.facts.symmetries or 0
    own = Rng.from_word(rng.word)
    if examiner.symmetry is not None:
        chosen = [examiner.symmetry]
    elif examiner.transformed == 0:
        chosen = list(range(min(count, _AT_START)))
    else:
        chosen = [own.below(count)]
    for symmetry in chosen:
        if examiner.transformed >= (_TRANSFORMED if examiner.compiled else _TRANSFORMED_IN_TRIAL):
            return
        examiner.transformed += 1
        try:
            _Symmetry(examiner, position, symmetry).examine(options, mover, own)
        except ContractError:
            examiner.symmetry = symmetry
            raise


class _Symmetry:
    """One symmetry of one position."""

    def __init__(self, examiner: Examiner, position: Position, symmetry: int) -> None:
        self._examiner, self._position, self._symmetry = examiner, position, symmetry
        self._game = examiner.game
        self._by = f"by symmetry {symmetry}"

    def examine(self, options: Options, mover: int, rng: Rng) -> None:
        """Check everything; `options` are the choices in the position, none if the game is over."""
        legal = sorted({action for actions in options.lists for action in actions})
        outcome = mover == CHANCE
        actions = self._images("transform_action", self._game.facts.num_actions, [] if outcome else legal)
        outcomes = self._images("transform_outcome", self._game.facts.num_outcomes or 0, legal if outcome else [])
        turned = self._transformed(self._position)
        self._compare_modes(turned, actions, outcomes)
        if self._symmetry == 0:
            self._refuse_changed(turned, "transform_action", actions)
            self._refuse_changed(turned, "transform_outcome", outcomes)
        elif not self._position.actions and not self._game.has("deal"):
            self._refuse_other_start(turned)
        try:
            self._compare(turned, options, mover, outcomes if outcome else actions, rng)
        except (ContractError, MethodError) as broken:
            if isinstance(broken, ContractError) and broken.requirement == "symmetry":
                raise
            raise self._fail(f"transform {self._by} leads to a wrong state, in which {broken}") from broken

    def _compare(self, turned: Position, options: Options, mover: int, images: dict[int, int], rng: Rng) -> None:
        """Compare the position with the transformed one, and some of their successors."""
        self._refuse_other_answers(turned, terminal=not options)
        if not options:
            return
        if mover == CHANCE:
            self._compare_outcomes(turned, images)
        else:
            self._compare_actions(turned, options.lists, images, mover)
        again = self._examiner.symmetry is not None
        for _ in range(_FOLLOWED_AGAIN if again else _FOLLOWED):
            self._compare_successors(turned, options.pick(rng), images)

    def _fail(self, detail: str, method: str = "transform") -> ContractError:
        return ContractError("symmetry", detail, method)

    def _images(self, method: str, size: int, legal: list[int]) -> dict[int, int]:
        """Return where actions or outcomes go: all of them, or the legal ones where there are very many."""
        chosen = list(range(size)) if size <= _MAPPED else legal
        if not self._game.has(method):
            return dict(zip(chosen, chosen, strict=True))
        what = method.removeprefix("transform_")
        state, symmetry = self._position.state, self._symmetry
        found = guard(method, lambda: [getattr(state, method)(symmetry, action) for action in chosen])
        if state._states.tobytes() != self._position.record.tobytes():
            raise ContractError("pure", f"{method} changed the state", method)
        images = {action: as_whole(method, image) for action, image in zip(chosen, found, strict=True)}
        taken: dict[int, int] = {}
        for action, image in images.items():
            if not 0 <= image < size:
                raise self._fail(
                    f"{method} maps {what} {action} to {image} {self._by}; {what}s are 0 to {size - 1}", method
                )
            if image in taken:
                raise self._fail(
                    f"{method} maps both {what} {taken[image]} and {what} {action} to {image} {self._by}; it must map "
                    f"different {what}s to different ones",
                    method,
                )
            taken[image] = action
        return images

    def _transformed(self, position: Position) -> Position:
        state = position.state
        guard("transform", lambda: state.transform(self._symmetry))
        return Position(self._game, state._states)

    def _compare_modes(self, turned: Position, actions: dict[int, int], outcomes: dict[int, int]) -> None:
        examiner = self._examiner
        if not examiner.compiled:
            return
        places, chances = _array(actions), _array(outcomes)
        examiner.states[:] = self._position.record
        entry = examiner.engine.entry(probe.transform)
        guard("transform", lambda: entry(examiner.states, self._symmetry, places, chances), compiled=True)
        examiner.same_state("transform", turned)
        examiner.same("transform_action", places.tolist(), list(actions.values()))
        examiner.same("transform_outcome", chances.tolist(), list(outcomes.values()))

    def _refuse_changed(self, turned: Position, method: str, images: dict[int, int]) -> None:
        moved = next((action for action, image in images.items() if action != image), None)
        if moved is not None:
            raise self._fail(
                f"{method} maps {moved} to {images[moved]} {self._by}; symmetry 0 must be the identity", method
            )
        change = _difference(self._position, turned)
        if change:
            raise self._fail(f"transform {self._by} changes the state: {change}; symmetry 0 must be the identity")

    def _refuse_other_start(self, turned: Position) -> None:
        change = _difference(self._position, turned)
        if change:
            raise self._fail(
                f"transform {self._by} changes the initial state: {change}; a symmetry maps games to games, so leave "
                "out those that do not keep the initial state"
            )

    def _refuse_other_answers(self, turned: Position, *, terminal: bool) -> None:
        """Raise if the transformed state has another player, other rewards, or is over where the state is not."""
        before, after = (bool(self._examiner.call_whole(at, "is_terminal")) for at in (self._position, turned))
        if before != after:
            raise self._fail(f"transform {self._by} changes is_terminal from {before} to {after}; a symmetry keeps it")
        if not terminal:
            mover, other = (self._examiner.call_whole(at, "current_player") for at in (self._position, turned))
            if mover != other:
                raise self._fail(
                    f"transform {self._by} changes current_player from {mover} to {other}; a symmetry keeps it"
                )
        methods = (*(("rewards",) if terminal else ()), *(("step_rewards",) if self._game.has("step_rewards") else ()))
        for method in methods:
            given, received = (self._numbers(at, method) for at in (self._position, turned))
            if not _near(given, received):
                raise self._fail(
                    f"transform {self._by} changes {method} from {given.tolist()} to {received.tolist()}; a symmetry "
                    "keeps them"
                )

    def _numbers(self, position: Position, method: str) -> Any:
        out = np.zeros(self._game.facts.players)
        self._examiner.call(position, method, out)
        return out

    def _compare_actions(
        self, turned: Position, lists: tuple[list[int], ...], images: dict[int, int], mover: int
    ) -> None:
        for seat, legal in enumerate(lists):
            player = seat if mover == SIMULTANEOUS else None
            found = sorted(guard("legal_actions", lambda: turned.legal_actions(player)))  # noqa: B023 - called at once
            mapped = sorted(images[action] for action in legal)
            if found != mapped:
                raise self._fail(
                    f"after transform {self._by} the legal actions are {shorten(found)}, and transform_action maps "
                    f"those of the state, {shorten(legal)}, to {shorten(mapped)}; both must agree",
                    "transform_action",
                )

    def _compare_outcomes(self, turned: Position, images: dict[int, int]) -> None:
        before, after = (dict(guard("chance_outcomes", at.outcomes)) for at in (self._position, turned))
        mapped = {images[outcome]: chance for outcome, chance in before.items()}
        if mapped.keys() != after.keys() or not all(abs(mapped[key] - after[key]) < 1e-9 for key in mapped):
            raise self._fail(
                f"after transform {self._by} the outcomes and their probabilities are "
                f"{shorten(sorted(after.items()))}, and transform_outcome maps those of the state to "
                f"{shorten(sorted(mapped.items()))}; both must agree (without transform_outcome each outcome stays)",
                "transform_outcome",
            )

    def _compare_successors(self, turned: Position, action: Any, images: dict[int, int]) -> None:
        """Compare two states: after an action and then the symmetry, and the other way round."""
        image = tuple(images[part] for part in action) if isinstance(action, tuple) else images[action]
        first, second = self._following(self._position, action), self._following(turned, image)
        if self._examiner.compiled:
            first = self._by_kernel(first, "transform", probe.transform, self._symmetry, _array({}), _array({}))
        else:
            first = self._transformed(first)
        change = _difference(first, second)
        if change:
            what = "outcome" if self._position.player == CHANCE else "action"
            raise self._fail(
                f"{what} {action} and then transform {self._by} must give the same state as transform and then {what} "
                f"{image}, to which transform_{what} maps it; but {change}: one of the two methods is wrong"
            )

    def _following(self, position: Position, action: Any) -> Position:
        method, kernel, given = self._examiner.applying(position, action)
        if self._examiner.compiled:
            return self._by_kernel(position, f"{method}({action})", kernel, given)
        state = position.state
        guard(f"{method}({action})", lambda: make(state, action))
        return Position(self._game, state._states)

    def _by_kernel(
        self, position: Position, method: str, kernel: CompiledFunction[..., Any], *arguments: Any
    ) -> Position:
        """Return the position after a kernel has changed its state: much faster than plain Python."""
        states = position.record.copy()
        guard(method, lambda: self._examiner.engine.entry(kernel)(states, *arguments), compiled=True)
        return Position(self._game, states)


def _array(images: dict[int, int]) -> npt.NDArray[np.int64]:
    """Return the actions that are mapped, as an array that is overwritten by where they go."""
    return np.array(list(images), np.int64)


def _difference(one: Position, other: Position) -> str:
    """Return the first field that differs between two states, with both values; an empty text if there is none."""
    for name in one.game.fields:
        before, after = one.record[0][name], other.record[0][name]
        is_float = np.asarray(before).dtype.kind == "f"
        if not (_near(before, after) if is_float else np.array_equal(before, after)):
            return f"{name} is {shorten(before.tolist())} and {shorten(after.tolist())}"
    return ""


def _near(one: Any, other: Any) -> bool:
    return bool(np.allclose(one, other, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True))
