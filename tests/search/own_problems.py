"""Problems as a user would write them: plain Python objects, none of which knows Treetop."""

from __future__ import annotations

from treetop.types import CHANCE


class Nim:
    """The bundled game of that name, as tuples."""

    num_players = 2

    def __init__(self, heap=21, most=3):
        self.heap, self.most = heap, most

    def initial(self):
        return (self.heap, 0)

    def player(self, state):
        return state[1]

    def actions(self, state):
        return range(min(self.most, state[0]))

    def step(self, state, action):
        return (state[0] - action - 1, 1 - state[1])

    def is_terminal(self, state):
        return state[0] == 0

    def rewards(self, state):
        return (-1, 1) if state[1] == 0 else (1, -1)


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class Board:
    """Tic-tac-toe that changes in place."""

    def __init__(self, cells="." * 9, turn="x"):
        self.cells, self.turn = list(cells), turn

    def winner(self):
        for a, b, c in LINES:
            if self.cells[a] != "." and self.cells[a] == self.cells[b] == self.cells[c]:
                return self.cells[a]
        return None

    def __repr__(self):
        return f"Board({''.join(self.cells)!r}, {self.turn!r})"


class TicTacToe:
    """Actions are pairs of a row and a column; `step` changes the board and returns nothing."""

    num_players = 2
    name = "own tic-tac-toe"

    def initial(self):
        return Board()

    def copy(self, board):
        return Board(board.cells, board.turn)

    def player(self, board):
        return "xo".index(board.turn)

    def actions(self, board):
        return [(index // 3, index % 3) for index in range(9) if board.cells[index] == "."]

    def step(self, board, action):
        board.cells[3 * action[0] + action[1]] = board.turn
        board.turn = "o" if board.turn == "x" else "x"

    def is_terminal(self, board):
        return board.winner() is not None or "." not in board.cells

    def rewards(self, board):
        return {"x": (1, -1), "o": (-1, 1), None: (0, 0)}[board.winner()]

    def render(self, board):
        return "\n".join("".join(board.cells[row : row + 3]) for row in (0, 3, 6))


def minimax(problem, state):
    """The exact value of a state of a two-player zero-sum problem, for the player to move."""
    if problem.is_terminal(state):
        return problem.rewards(state)[problem.player(state)]
    return max(-minimax(problem, following(problem, state, action)) for action in problem.actions(state))


def following(problem, state, action):
    """The state after an action; the given one stays as it is."""
    copied = problem.copy(state) if hasattr(problem, "copy") else state
    result = problem.step(copied, action)
    return copied if result is None else result


class Corridor:
    """One player: walk right for a prize at the end, or take a crumb and leave. Rewards are immediate."""

    step_rewards = True
    reward_range = (-1.0, 10.0)

    def __init__(self, length=4, prize=5.0, crumb=1.0):
        self.length, self.prize, self.crumb = length, prize, crumb

    def initial(self):
        return 0

    def actions(self, state):
        return ["right", "leave"]

    def step(self, state, action):
        if action == "leave":
            return -1, self.crumb
        return state + 1, (self.prize if state + 1 == self.length else -0.1)

    def is_terminal(self, state):
        return state in (-1, self.length)

    def rewards(self, state):
        return 0.0


class Three:
    """Three players in turn each choose whom to give a point; the rewards say who has how many."""

    num_players = 3
    reward_range = (0.0, 1.0)

    def initial(self):
        return ()

    def player(self, state):
        return len(state)

    def actions(self, state):
        return ["a", "b", "c"]

    def step(self, state, action):
        return (*state, action)

    def is_terminal(self, state):
        return len(state) == 3

    def rewards(self, state):
        return [state.count(letter) / 3 for letter in "abc"]


class Gamble:
    """Take a sure 0.3, or throw a coin for 1 or -0.2, which comes up well three times in four."""

    def initial(self):
        return "start"

    def player(self, state):
        return CHANCE if state == "coin" else 0

    def actions(self, state):
        return ["sure", "throw"]

    def outcomes(self, state):
        return [("heads", 0.75), ("tails", 0.25)]

    def step(self, state, action):
        return {"throw": "coin"}.get(action, action)

    def is_terminal(self, state):
        return state in ("sure", "heads", "tails")

    def rewards(self, state):
        return {"sure": 0.3, "heads": 1.0, "tails": -0.2}[state]


class Race:
    """Two players throw a die in turn and may add it or pass; whoever comes first to 12 wins."""

    num_players = 2

    def initial(self):
        return (0, 0, 0, None)

    def player(self, state):
        return CHANCE if state[3] is None else state[2]

    def actions(self, state):
        return ["add", "pass"]

    def outcomes(self, state):
        return [(face, 1 / 6) for face in range(1, 7)]

    def step(self, state, action):
        first, second, turn, _ = state
        if isinstance(action, int):
            return (first, second, turn, action)
        gain = state[3] if action == "add" else 1
        return (first + gain, second, 1, None) if turn == 0 else (first, second + gain, 0, None)

    def is_terminal(self, state):
        return max(state[:2]) >= 12

    def rewards(self, state):
        return (1, -1) if state[0] >= 12 else (-1, 1)


class Tour:
    """One player visits the stops in any order, from 0; each reward is minus a distance. A state is (place, left)."""

    reward_range = (-20.0, 0.0)

    def initial(self):
        return (0, (3, 1, 2))

    def actions(self, state):
        return state[1]

    def step(self, state, action):
        return (action, tuple(stop for stop in state[1] if stop != action))

    def is_terminal(self, state):
        return not state[1]

    def rewards(self, state):
        return -1.0
