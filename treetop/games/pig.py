"""Pig, the dice game."""

from __future__ import annotations

from typing import Any

from treetop.game import CHANCE, Dice, Element, Game, Track, checks, family, field, game

_ROLL, _HOLD = 0, 1
_NAMES = ("roll", "hold")


@family
def pig(goal: int = 100, most_rolls: int = 5000) -> Game:
    """Roll a die or hold; a one loses the points of the turn. The first with `goal` points wins.

    After `most_rolls` rolls the game is a draw.
    """
    checks.whole("goal", goal, 2, 1000)
    checks.whole("most_rolls", most_rolls, 1, 100_000)

    @game(players=2, num_actions=2, max_length=3 * most_rolls, num_outcomes=6, observation_shape=(6,))
    class Pig:
        """Roll a die or hold; a one loses the points of the turn.

        In each turn the player rolls (action 0) one or more times and adds up the dice, or holds (action 1), adds that
        sum to the score, and ends the turn. A one ends the turn without points. A player who reaches the goal,
        including the sum of the current turn, wins immediately. After `most_rolls` rolls the game is a draw.

        Outcome n is a die that shows n + 1.
        """

        scores: Any = field("i2", 2)
        turn: int = field("i2")  # the points of the current turn
        rolls: int = field("i4")  # the number of rolls in the whole game
        player: int = field("i1")
        rolling: bool = field("bool")  # a chance node: the die is rolled next

        def reset(self) -> None:
            self.scores[:] = 0
            self.turn = 0
            self.rolls = 0
            self.player = 0
            self.rolling = False

        def current_player(self) -> int:
            return CHANCE if self.rolling else self.player

        def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
            for face in range(6):
                actions[face] = face
                probabilities[face] = 1.0 / 6.0
            return 6

        def random_outcome(self, rng: Any) -> int:
            return int(rng.below(6))

        def legal_actions(self, out: Any) -> int:
            out[0] = _ROLL
            out[1] = _HOLD
            return 2 if self.turn > 0 else 1

        def random_action(self, rng: Any) -> int:
            return int(rng.below(2)) if self.turn > 0 else _ROLL

        def rollout_action(self, rng: Any) -> int:  # noqa: ARG002 - this policy is deterministic
            """Hold at 20, or never if the opponent is near the goal, which is close to optimal."""
            enough = 20 if self.scores[1 - self.player] + 25 < goal else goal
            return _HOLD if self.turn >= enough else _ROLL

        def apply(self, action: int) -> None:
            if not self.rolling:
                if action == _ROLL:
                    self.rolling = True
                else:
                    self.scores[self.player] += self.turn
                    self.turn = 0
                    self.player = 1 - self.player
                return
            self.rolling = False
            self.rolls += 1
            if action == 0:
                self.turn = 0
                self.player = 1 - self.player
            else:
                self.turn += action + 1

        def is_terminal(self) -> bool:
            return not self.rolling and (self.scores[self.player] + self.turn >= goal or self.rolls >= most_rolls)

        def rewards(self, out: Any) -> None:
            if self.scores[self.player] + self.turn >= goal:
                out[self.player] = 1.0
                out[1 - self.player] = -1.0

        def heuristic(self, out: Any) -> None:
            """Write the lead in points; having the turn counts as 4 points."""
            own, other = self.scores[self.player] + self.turn + 4, self.scores[1 - self.player]
            lead = 4.0 * (own - other) / (2 * goal - min(goal, own) - other + 10)
            out[self.player] = lead / (1.0 + abs(lead))
            out[1 - self.player] = -out[self.player]

        def observe(self, player: int, out: Any) -> None:
            """Write the player's score, the opponent's and the points of the turn, divided by the goal.

            Then whether it is the player's turn, whether the die is rolled next, and the share of the rolls left.
            """
            out[0] = self.scores[player] / goal
            out[1] = self.scores[1 - player] / goal
            out[2] = self.turn / goal
            out[3] = player == self.player
            out[4] = self.rolling
            out[5] = 1.0 - self.rolls / most_rolls

        def key(self) -> int:
            scores = (self.scores[0] << 11 | self.scores[1]) << 11 | self.turn
            return int((scores << 20 | self.rolls) << 2 | self.player << 1 | int(self.rolling))

        def board(self) -> list[Element]:
            scores = {f"player {player + 1}": self.scores[player] for player in range(2)}
            return [
                Track({**scores, "with this turn": min(goal, self.scores[self.player] + self.turn)}, goal),
                Dice([0], f"{self.turn} in this turn", name="roll"),
            ]

        def render(self) -> str:
            doing = "rolls" if self.rolling else "to roll or hold"
            return (
                f"{self.scores[0]} : {self.scores[1]} of {goal}, player {self.player} {doing}, {self.turn} in this turn"
            )

        def move_text(self, action: int) -> str:
            return _NAMES[action]

        def outcome_text(self, outcome: int) -> str:
            return str(outcome + 1)

        def parse_move(self, text: str) -> int:
            return _NAMES.index(text.lower())

    return Pig  # type: ignore[return-value]  # mypy does not see what a class decorator returns
