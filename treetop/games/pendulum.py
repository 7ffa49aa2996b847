"""The pendulum swing-up problem: one player with continuous actions."""

from __future__ import annotations

from typing import Any

from treetop.game import CHANCE, Element, Game, Shape, Shapes, Table, checks, compiled, family, field, game

_PI = 3.141592653589793
_GRAVITY, _STEP, _FASTEST, _STRONGEST = 10.0, 0.05, 8.0, 2.0
_GUSTS = 101  # from the full force in one direction to the full force in the other


@compiled
def _sine(angle: float) -> float:
    """Return the sine of an angle from -pi to pi by its series: bit for bit the same in both modes on every machine."""
    if angle > _PI / 2:
        angle = _PI - angle
    elif angle < -_PI / 2:
        angle = -_PI - angle
    square = angle * angle
    total = 1.0
    for factor in range(20, 0, -2):
        total = 1.0 - square / (factor * (factor + 1)) * total
    return angle * total


@family
def pendulum(horizon: int = 200, wind: float = 0.0) -> Game:
    """Swing a pendulum up with a weak motor, and keep it there for `horizon` steps in gusts of torque up to `wind`."""
    checks.whole("horizon", horizon, 1, 15_000)
    checks.number("wind", wind, 0, 10)
    worst = -(_PI * _PI + 0.1 * _FASTEST * _FASTEST + 0.001 * _STRONGEST * _STRONGEST)
    windy = wind > 0

    @game(
        players=1,
        action_size=1,
        max_length=horizon * (2 if windy else 1),
        rewards=(worst * horizon, 0),
        num_outcomes=_GUSTS if windy else None,
        observation_shape=(5 if windy else 4,),
    )
    class Pendulum:
        """Swing a pendulum up with a motor that is too weak to lift it directly, and keep it there.

        An action is the motor's torque from -2 to 2 for a twentieth of a second; more is clipped. The rod has mass 1
        and length 1, gravity is 10, and the speed is at most 8 a second. Each step costs the square of the angle from
        upright, a tenth of the square of the speed, and a thousandth of the square of the torque. Initially the rod
        hangs down at rest; `deal` draws any angle, and a speed from -1 to 1. With wind, a gust follows each action: one
        of 101 torques, all equally likely, from the full force in one direction to the full force in the other.
        """

        angle: float = field("f8")  # from upright, between -pi and pi
        speed: float = field("f8")
        cost: float = field("f8")  # of the last step
        steps: int = field("i2")
        blowing: bool = field("bool")  # a gust comes next

        def reset(self) -> None:
            self.blowing = False
            self.angle = _PI
            self.speed = 0.0
            self.cost = 0.0
            self.steps = 0

        def deal(self, rng: Any) -> None:
            self.angle = _PI * (2.0 * rng.random() - 1.0)
            self.speed = 2.0 * rng.random() - 1.0

        def sample_action(self, rng: Any, out: Any) -> None:
            out[0] = _STRONGEST * (2.0 * rng.random() - 1.0)

        def apply_vector(self, values: Any) -> None:
            torque = min(_STRONGEST, max(-_STRONGEST, values[0]))
            self.cost = self.angle * self.angle + 0.1 * self.speed * self.speed + 0.001 * torque * torque
            self.speed += (1.5 * _GRAVITY * _sine(self.angle) + 3.0 * torque) * _STEP
            self.blowing = windy
            if not windy:
                self.turn()

        def turn(self) -> None:
            """Advance the pendulum by a twentieth of a second."""
            self.speed = min(_FASTEST, max(-_FASTEST, self.speed))
            angle = self.angle + self.speed * _STEP
            if angle > _PI:
                angle -= 2.0 * _PI
            elif angle < -_PI:
                angle += 2.0 * _PI
            self.angle = angle
            self.steps += 1

        if windy:

            def current_player(self) -> int:
                return CHANCE if self.blowing else 0

            def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
                for gust in range(_GUSTS):
                    actions[gust] = gust
                    probabilities[gust] = 1.0 / _GUSTS
                return _GUSTS

            def random_outcome(self, rng: Any) -> int:
                return int(rng.below(_GUSTS))

            def apply(self, gust: int) -> None:
                self.speed += 3.0 * wind * (2.0 * gust / (_GUSTS - 1.0) - 1.0) * _STEP
                self.cost = 0.0
                self.blowing = False
                self.turn()

        def is_terminal(self) -> bool:
            return self.steps >= horizon

        def step_rewards(self, out: Any) -> None:
            out[0] = -self.cost

        def rewards(self, out: Any) -> None:
            pass

        def heuristic(self, out: Any) -> None:
            """Write the current cost, extrapolated to at most a second: accurate near upright, optimistic elsewhere."""
            cost = self.angle * self.angle + 0.1 * self.speed * self.speed
            out[0] = -cost * min(20, horizon - self.steps)

        def observe(self, player: int, out: Any) -> None:  # noqa: ARG002 - there is one player
            """Write cosine and sine of the angle, the speed divided by its greatest value, the share of the steps left.

            With wind also whether a gust comes next.
            """
            out[0] = _sine(_PI / 2 - abs(self.angle))
            out[1] = _sine(self.angle)
            out[2] = self.speed / _FASTEST
            out[3] = 1.0 - self.steps / horizon
            if windy:
                out[4] = self.blowing

        def board(self) -> list[Element]:
            across, up = _sine(self.angle), _sine(_PI / 2 - abs(self.angle))
            rod = Shape("line", 1.5, 1.5, across, -up)
            weight = Shape("circle", 1.5 + across, 1.5 - up, 0.12, player=0)
            facts = {
                "angle": f"{self.angle:+.3f}",
                "speed": f"{self.speed:+.3f}",
                "steps": f"{self.steps} of {horizon}",
            }
            return [Shapes(3, 3, [rod, weight, Shape("circle", 1.5, 1.5, 0.05)]), Table(facts)]

        def render(self) -> str:
            return f"angle {self.angle:+.3f} from upright, speed {self.speed:+.3f}, {self.steps} of {horizon} steps"

        def outcome_text(self, outcome: int) -> str:
            return f"{2 * outcome / (_GUSTS - 1) - 1:+g}"

    return Pendulum  # type: ignore[return-value]  # mypy does not see what a class decorator returns
