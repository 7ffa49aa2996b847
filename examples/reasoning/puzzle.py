"""The Game of 24: combine two numbers into one until a single number is left, which must be 24. Arithmetic is exact."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

TARGET = Fraction(24)

State = tuple[Fraction, ...]
"""The numbers that are left, in ascending order."""


@dataclass(frozen=True)
class Step:
    """One step of reasoning: two numbers become one."""

    left: Fraction
    operator: str
    right: Fraction

    @property
    def result(self) -> Fraction:
        """The number that replaces the two numbers."""
        return apply(self.operator, self.left, self.right)

    def __str__(self) -> str:
        return f"{spelled(self.left)} {self.operator} {spelled(self.right)} = {self.result}"


def apply(operator: str, left: Fraction, right: Fraction) -> Fraction:
    """Return the result of one of the four operations."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    return left * right if operator == "*" else left / right


def spelled(number: Fraction) -> str:
    """Return a number as text inside a step: fractions and negative numbers in brackets."""
    return str(number) if number.denominator == 1 and number >= 0 else f"({number})"


def shown(state: Iterable[Fraction]) -> str:
    """Return the numbers that are left as text."""
    return " ".join(map(str, state))


class GameOf24:
    """The puzzle as a problem to search. It alone decides what is legal and what wins; advisers only guide."""

    reward_range = (0.0, 1.0)

    def __init__(self, numbers: Iterable[int | Fraction]) -> None:
        self.numbers: State = tuple(sorted(map(Fraction, numbers)))
        if len(self.numbers) < 2:
            raise ValueError("a puzzle has at least two numbers")
        self.name = f"game of 24: {shown(self.numbers)}"

    def initial(self) -> State:
        return self.numbers

    def actions(self, state: State) -> list[Step]:
        """Return every pair under every operation; sums and products, which are commutative, once."""
        steps: list[Step] = []
        for low, high in combinations(state, 2):
            steps += [Step(high, "+", low), Step(high, "*", low), Step(high, "-", low), Step(low, "-", high)]
            steps += [Step(one, "/", other) for one, other in ((high, low), (low, high)) if other]
        return list(dict.fromkeys(steps))

    def step(self, state: State, step: Step) -> State:
        left = list(state)
        left.remove(step.left)
        left.remove(step.right)
        return tuple(sorted([*left, step.result]))

    def is_terminal(self, state: State) -> bool:
        return len(state) == 1

    def rewards(self, state: State) -> float:
        return 1.0 if state[0] == TARGET else 0.0

    def key(self, state: State) -> str:
        return shown(state)

    def render(self, state: State) -> str:
        return shown(state)


def expression(numbers: Sequence[Fraction], steps: Iterable[Step]) -> str:
    """Return steps as one expression over the given numbers, with as few brackets as possible."""
    pool = [(number, str(number), 3) for number in numbers]  # value, text, precedence

    def taken(value: Fraction) -> tuple[str, int]:
        found = next(item for item in pool if item[0] == value)
        pool.remove(found)
        return found[1:]

    for step in steps:
        (left, left_bond), (right, right_bond) = taken(step.left), taken(step.right)
        bond = 1 if step.operator in "+-" else 2
        left = f"({left})" if left_bond < bond else left
        right = f"({right})" if right_bond < bond or (right_bond == bond and step.operator in "-/") else right
        pool.append((step.result, f"{left} {step.operator} {right}", bond))
    return pool[-1][1]


def is_solution(text: str, numbers: Iterable[Fraction]) -> bool:
    """Return whether an expression uses each number exactly once and is exactly 24. It does not use the search."""
    used: list[Fraction] = []

    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used.append(Fraction(node.value))
            return used[-1]
        signs: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
        if isinstance(node, ast.BinOp) and type(node.op) in signs:
            return apply(signs[type(node.op)], value(node.left), value(node.right))
        raise ValueError(f"{text!r} is not plain arithmetic")

    try:
        return value(ast.parse(text, mode="eval").body) == TARGET and Counter(used) == Counter(numbers)
    except (ValueError, SyntaxError, ZeroDivisionError):
        return False
