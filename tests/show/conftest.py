"""Results of every kind of search, made once."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.all_kinds import Drift, Hands, Press, Secret

NASTY = '</script><!--<b>"\\N&\x00\ud800\n'


class Walk:
    """A Python problem with chance, whose actions have nasty names."""

    def initial(self):
        return (0, 0)

    def player(self, state):
        return tt.CHANCE if state[1] % 2 else 0

    def outcomes(self, state):
        return [("heads", 0.5), ("tails", 0.5)]

    def actions(self, state):
        return ["left", NASTY]

    def step(self, state, action):
        return (state[0] + (action in ("left", "heads")), state[1] + 1)

    def is_terminal(self, state):
        return state[1] >= 6

    def rewards(self, state):
        return [state[0] / 6]

    def render(self, state):
        return f"{NASTY} at {state[0]}"


def made(kind):
    """Return a new result of a kind of search."""
    if kind == "solver":
        return tt.search("tic_tac_toe", tt.uct(solver=True), simulations=3000, seed=1)
    if kind == "graph":
        return tt.search("tic_tac_toe", tt.uct(transpositions=True), simulations=1500, seed=1)
    if kind == "chance and rewards":
        return tt.search(Press, simulations=600, seed=1)
    if kind == "simultaneous":
        return tt.Search(tt.position(Hands), tt.regret_matching(), seed=1, player=1).run(tt.Limit(simulations=300))
    if kind == "continuous":
        return tt.search(Drift, simulations=400, seed=1)
    if kind == "information sets":
        return tt.search(dealt(), simulations=300, seed=1)
    if kind == "determinizations":
        return tt.search(dealt(), tt.uct(information="determinizations"), simulations=300, seed=1)
    if kind == "perfect information":
        return tt.search(dealt(), tt.uct(information="perfect"), simulations=300, seed=1)
    if kind == "python problem":
        return tt.search(Walk(), simulations=300, seed=1)
    return tt.search("tic_tac_toe", simulations=2000, seed=1)


def dealt():
    """Return a position in which player 1 guesses the card of player 0."""
    return tt.position(Secret, seed=1).apply(1)


KINDS = (
    "plain", "solver", "graph", "chance and rewards", "simultaneous", "continuous", "information sets",
    "determinizations", "perfect information", "python problem",
)  # fmt: skip


@pytest.fixture(scope="session")
def results():
    """Results by kind, each made when it is first asked for."""
    known = {}

    def get(kind):
        if kind not in known:
            known[kind] = made(kind)
        return known[kind]

    return get
