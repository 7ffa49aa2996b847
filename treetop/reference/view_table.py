"""What a plain search over views keeps: views, their choices, and the choices made in one simulation."""

from __future__ import annotations

from dataclasses import dataclass, field

from treetop.reference.arithmetic import added


@dataclass(eq=False)
class Choice:
    """An action in a view."""

    action: int
    vector: list[float] = field(default_factory=list)
    visits: int = 0
    total: float = 0.0
    """Of the returns to the player who chooses."""
    available: int = 0
    """How often it could have been chosen."""
    regret: float = 0.0
    strategy: float = 0.0


@dataclass(eq=False)
class View:
    """What a player has seen."""

    choices: list[Choice] = field(default_factory=list)
    visits: int = 0

    def known(self, actions: list[int]) -> list[Choice]:
        """The choices for some actions, in their order; those that are new here are added."""
        for action in actions:
            if all(choice.action != action for choice in self.choices):
                self.choices.append(Choice(action))
        return [next(choice for choice in self.choices if choice.action == action) for action in actions]


@dataclass(frozen=True)
class Made:
    """A choice that was made, and what it was made from; choices made at once have the same time."""

    time: int
    mover: int
    view: View
    choice: Choice
    offered: list[Choice]


def mixture(choices: list[Choice]) -> list[float]:
    """Regret matching: each action's share of the positive regrets; equal shares where there are none."""
    positive = [max(0.0, choice.regret) for choice in choices]
    total = added(positive)
    return [regret / total if total > 0.0 else 1.0 / len(choices) for regret in positive]
