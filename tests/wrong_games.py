"""A hundred wrong games, made from a few right ones by replacing a line or two: see `WRONG`.

A game is a text, so that each becomes a module of a user's own, with lines to point to.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path

_OPTIONS = {"players": "2", "num_actions": "3", "max_length": "9"}

PLAIN = {
    "fields": 'n = treetop.field("i1")\nplayer = treetop.field("i1")\ncells = treetop.field("i1", 4)\nworth = treetop.field("f8")',
    "reset(self)": "self.n = 9\nself.player = 0",
    "legal_actions(self, out)": "count = min(3, self.n)\nfor action in range(count):\n    out[action] = action\nreturn count",
    "apply(self, action)": "self.n -= action + 1\nself.player = 1 - self.player",
    "is_terminal(self)": "return self.n <= 0",
    "rewards(self, out)": "out[1 - self.player] = 1.0\nout[self.player] = -1.0",
}
CHANCE = PLAIN | {
    "current_player(self)": "return treetop.CHANCE if self.n % 2 else self.player",
    "chance_outcomes(self, actions, probabilities)": "actions[0], actions[1] = 0, 1\nprobabilities[:] = 0.5\nreturn 2",
}
TOGETHER = {key: value for key, value in PLAIN.items() if not key.startswith(("legal", "apply"))} | {
    "current_player(self)": "return treetop.SIMULTANEOUS",
    "legal_actions_of(self, player, out)": "out[0], out[1] = 0, 1\nreturn 2",
    "apply_joint(self, actions)": "self.n -= 1 + actions[0] + actions[1]",
}
NUMBERS = {key: value for key, value in PLAIN.items() if not key.startswith(("legal", "apply"))} | {
    "sample_action(self, rng, out)": "out[0] = rng.random()",
    "apply_vector(self, values)": "self.worth = values[0]\nself.n -= 1\nself.player = 1 - self.player",
}
HIDDEN = PLAIN | {
    "determinize(self, player, rng)": "self.cells[1 - player] = rng.below(3)",
    "information(self, player)": "return self.n * 8 + self.cells[player] * 2 + self.player",
}
DEALT = PLAIN | {"deal(self, rng)": "self.cells[0] = rng.below(3)"}
STEPS = PLAIN | {"step_rewards(self, out)": "out[0], out[1] = 0.0, 0.0"}
KINDS = {
    "plain": (PLAIN, {}),
    "chance": (CHANCE, {"num_outcomes": "2"}),
    "together": (TOGETHER, {}),
    "numbers": (NUMBERS, {"action_size": "1"}),
    "hidden": (HIDDEN, {}),
    "dealt": (DEALT, {}),
    "steps": (STEPS, {}),
}


@dataclass(frozen=True)
class Wrong:
    """A right game with some methods replaced or added, and some options changed."""

    name: str
    kind: str = "plain"
    methods: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    before: str = ""
    """What is executed above the class."""

    @property
    def source(self) -> str:
        methods, options = KINDS[self.kind]
        body = {**methods, **self.methods}
        facts = ", ".join(f"{key}={value}" for key, value in {**_OPTIONS, **options, **self.options}.items())
        parts = [textwrap.indent(body.pop("fields"), "    ")]
        parts += [f"    def {head}:\n{textwrap.indent(text, '        ')}" for head, text in body.items() if text]
        return (
            f"import math\nimport treetop\n\n{self.before}\n\n@treetop.game({facts})\nclass Wrong:\n"
            + "\n\n".join(parts)
            + "\n"
        )


def write(folder: Path, name: str, source: str) -> Path:
    """Write a game as a module of a user's own."""
    file = folder / f"{''.join(letter if letter.isalnum() else '_' for letter in name)}_game.py"
    file.write_text(source)
    return file


def right(kind: str) -> str:
    """Return the source of the right game of a kind."""
    return Wrong("right", kind).source


_LIST, _APPLY, _ENDS, _PAYS = (
    "legal_actions(self, out)",
    "apply(self, action)",
    "is_terminal(self)",
    "rewards(self, out)",
)
_STEP = "self.n -= action + 1\nself.player = 1 - self.player\n"
_LISTED = PLAIN[_LIST]
_LATE = "if self.n < 5:\n    "

_PLAIN_METHODS = [
    # Lists of actions.
    ("5000 entries", {_LIST: "for action in range(5000):\n    out[action] = 0\nreturn 3"}),
    ("one entry too many", {_LIST: "for action in range(4):\n    out[action] = action\nreturn 3"}),
    ("late entry past the end", {_LIST: f"{_LATE}out[3] = 0\n{_LISTED}"}),
    ("count beyond out", {_LIST: f"{_LISTED.rsplit('return', 1)[0]}return 4"}),
    ("huge count", {_LIST: "out[0] = 0\nreturn 2**40"}),
    ("count beyond 64 bits", {_LIST: "out[0] = 0\nreturn 2**70"}),
    ("negative count", {_LIST: "return -1"}),
    ("no action", {_LIST: "return 0"}),
    ("no action late", {_LIST: f"{_LATE}return 0\n{_LISTED}"}),
    ("count of unwritten entries", {_LIST: "out[0] = 0\nreturn 3"}),
    ("action too large", {_LIST: "out[0] = 3\nreturn 1"}),
    ("negative action", {_LIST: "out[0] = -1\nreturn 1"}),
    ("action beyond 32 bits", {_LIST: "out[0] = 2**40\nreturn 1"}),
    ("action twice", {_LIST: "out[0], out[1] = 0, 0\nreturn 2"}),
    ("list returns None", {_LIST: "out[0] = 0"}),
    ("list returns a float", {_LIST: "out[0] = 0\nreturn 1.0"}),
    ("list returns a text", {_LIST: "out[0] = 0\nreturn '1'"}),
    ("list returns a list", {_LIST: "return [0]"}),
    ("list writes a text", {_LIST: "out[0] = 'a'\nreturn 1"}),
    ("list changes the state", {_LIST: f"self.cells[0] += 1\n{_LISTED}"}),
    ("endless list", {_LIST: "while True:\n    out[0] = 0"}),
    # Moves.
    ("store out of range", {_APPLY: f"{_STEP}self.cells[0] = 300"}),
    ("store below the range", {_APPLY: f"{_STEP}self.cells[0] = -129"}),
    ("scalar store out of range", {_APPLY: "self.n = self.n * 100"}),
    ("late store out of range", {_APPLY: f"{_STEP}{_LATE}self.cells[1] = 1000"}),
    ("slice store out of range", {_APPLY: f"{_STEP}self.cells[:] = 128"}),
    ("float in a whole field", {_APPLY: f"{_STEP}self.cells[0] = 0.5"}),
    ("division in a whole field", {_APPLY: f"{_STEP}self.cells[0] = self.n / 2"}),
    ("NaN in a whole field", {_APPLY: f"{_STEP}self.n = math.nan"}),
    ("infinity in a whole field", {_APPLY: f"{_STEP}self.n = math.inf"}),
    ("None in a field", {_APPLY: f"{_STEP}self.n = None"}),
    ("text in a field", {_APPLY: f"{_STEP}self.n = 'a'"}),
    ("text in a float", {_APPLY: f"{_STEP}self.worth = 'a'"}),
    ("list in a field", {_APPLY: f"{_STEP}self.n = [1]"}),
    ("index past the end", {_APPLY: f"{_STEP}self.cells[4] = 1"}),
    ("index far past the end", {_APPLY: f"{_STEP}self.cells[10**6] = 1"}),
    ("late index past the end", {_APPLY: f"{_STEP}{_LATE}self.cells[self.n + 4] = 1"}),
    ("read past the end", {_APPLY: f"{_STEP}self.cells[0] = self.cells[4 + action]"}),
    ("index below the start", {_APPLY: f"{_STEP}self.cells[-5] = 1"}),
    ("unknown field", {_APPLY: f"{_STEP}self.missing = 1"}),
    ("unknown name", {_APPLY: f"{_STEP}self.n = missing"}),
    ("division by zero", {_APPLY: f"{_STEP}self.cells[0] = 1 // (self.n - self.n)"}),
    ("raises ValueError", {_APPLY: f"{_STEP}raise ValueError('no')"}),
    ("raises KeyError", {_APPLY: f"{_STEP}raise KeyError('no')"}),
    ("raises an own error", {_APPLY: f"{_STEP}raise Mine('no')"}),
    ("raises StopIteration", {_APPLY: f"{_STEP}raise StopIteration"}),
    ("raises MemoryError", {_APPLY: f"{_STEP}raise MemoryError"}),
    ("raises SystemExit", {_APPLY: f"{_STEP}raise SystemExit(0)"}),
    ("fails an assertion", {_APPLY: f"{_STEP}assert self.n > 5"}),
    ("recursion", {_APPLY: "self.apply(action)"}),
    ("endless apply", {_APPLY: "while self.n > -1:\n    self.player = 0"}),
    ("endless apply late", {_APPLY: f"{_STEP}while self.n < 4:\n    self.player = 0"}),
    ("endless for", {_APPLY: f"{_STEP}for _ in range(10**12):\n    self.player = 0"}),
    ("wrong player", {_APPLY: "self.n -= action + 1\nself.player += 1"}),
    ("negative player", {_APPLY: "self.n -= action + 1\nself.player -= 3"}),
    # The end.
    ("never ends", {_ENDS: "return False"}),
    ("end returns a text", {_ENDS: "return 'no' if self.n > 0 else ''"}),
    ("end returns None", {_ENDS: "pass"}),
    ("end returns a float", {_ENDS: "return 1.0 * (self.n <= 0)"}),
    ("end changes the state", {_ENDS: "self.cells[0] = 1\nreturn self.n <= 0"}),
    ("end fails", {_ENDS: f"{_LATE}raise ValueError('no')\nreturn self.n <= 0"}),
    ("endless end", {_ENDS: "while self.n < 3:\n    pass\nreturn False"}),
    ("reward too high", {_PAYS: "out[0], out[1] = 2.0, -2.0"}),
    ("reward too low", {_PAYS: "out[0] = -1.5"}),
    ("reward is NaN", {_PAYS: "out[0] = math.nan"}),
    ("reward is infinite", {_PAYS: "out[0] = math.inf"}),
    ("rewards do not add up", {_PAYS: "out[0], out[1] = 1.0, 1.0"}),
    ("reward of a third player", {_PAYS: "out[2] = 1.0"}),
    ("reward is a text", {_PAYS: "out[0] = 'won'"}),
    ("rewards change the state", {_PAYS: "self.n = 1\nout[0], out[1] = 1.0, -1.0"}),
    # The start.
    ("reset fails", {"reset(self)": "raise RuntimeError('no')"}),
    ("reset out of range", {"reset(self)": "self.n = 99999"}),
    ("endless reset", {"reset(self)": "while True:\n    self.n = 9"}),
    # Optional methods.
    ("player out of range", {"current_player(self)": "return 2"}),
    ("player is None", {"current_player(self)": "pass"}),
    ("player is a float", {"current_player(self)": "return float(self.player)"}),
    ("chance without outcomes", {"current_player(self)": "return treetop.CHANCE"}),
    ("simultaneous without methods", {"current_player(self)": "return treetop.SIMULTANEOUS"}),
    ("random action illegal", {"random_action(self, rng)": "return rng.below(3)"}),
    ("random action is None", {"random_action(self, rng)": "pass"}),
    ("rollout action illegal", {"rollout_action(self, rng)": "return 7"}),
    ("rollout action fails", {"rollout_action(self, rng)": "return self.cells[9]"}),
    ("key is a float", {"key(self)": "return 0.5"}),
    ("key fails", {"key(self)": "return self.cells[7]"}),
    ("heuristic is NaN", {"heuristic(self, out)": "out[0] = math.nan"}),
    ("heuristic out of range", {"heuristic(self, out)": "out[0] = 7.0"}),
    ("heuristic past the end", {"heuristic(self, out)": "out[2] = 0.0"}),
    ("render fails", {"render(self)": "return 'n' + self.n"}),
    ("board fails", {"board(self)": "return [[self.missing]]"}),
    ("move_text fails", {"move_text(self, action)": "return 'abc'[action + 3]"}),
    (
        "parse_move returns a text",
        {"move_text(self, action)": "return str(action)", "parse_move(self, text)": "return text"},
    ),
    ("parse_move fails", {"parse_move(self, text)": "return self.missing"}),
    ("board of numbers", {"board(self)": "return [[0, 1], [1, 0]]"}),
    ("board is a number", {"board(self)": "return self.n"}),
    ("board of numbers beside render", {"board(self)": "return [[0]]", "render(self)": "return 'x'"}),
    ("render returns a list", {"render(self)": "return ['a', 'b']"}),
    ("render returns None", {"render(self)": "print(end='')"}),
    ("move_text returns a number", {"move_text(self, action)": "return action"}),
    ("two moves have one name", {"move_text(self, action)": "return 'v'"}),
    ("two moves have one name late", {"move_text(self, action)": "return str(action) if self.n > 4 else 'v'"}),
    ("a name has a blank", {"move_text(self, action)": "return f'take {action}'"}),
    ("a name is empty", {"move_text(self, action)": "return 'ab'[action - 1:action]"}),
    ("summary returns a text", {"summary(self)": "return 'nine'"}),
    ("summary fails", {"summary(self)": "return {'n': self.missing}"}),
    # What cannot be a game.
    ("list takes no argument", {_LIST: "", "legal_actions(self)": "return 1"}),
    ("apply takes two arguments", {_APPLY: "", "apply(self, action, other)": "pass"}),
    ("apply is missing", {_APPLY: ""}),
    ("has an __init__", {"__init__(self)": "pass"}),
    ("no field", {"fields": "pass"}),
    ("field of an unknown type", {"fields": 'n = treetop.field("x9")'}),
    ("field of objects", {"fields": "n = treetop.field(list)"}),
    ("field of no size", {"fields": 'n = treetop.field("i1", 0)\nplayer = treetop.field("i1")'}),
    ("huge field", {"fields": PLAIN["fields"] + '\nmuch = treetop.field("i8", 10**9)'}),
    ("observe without a shape", {"observe(self, player, out)": "out[0] = 1.0"}),
]
_FACTS = [
    ("no players", {"players": "0"}),
    ("negative players", {"players": "-1"}),
    ("players as a text", {"players": "'2'"}),
    ("more players than memory", {"players": "10**9"}),
    ("fewer players than move", {"players": "1"}),
    ("no actions", {"num_actions": "0"}),
    ("negative actions", {"num_actions": "-3"}),
    ("too many actions", {"num_actions": "2**40"}),
    ("num_actions too small", {"num_actions": "2"}),
    ("max_length too small", {"max_length": "3"}),
    ("no max_length", {"max_length": "0"}),
    ("max_length is infinite", {"max_length": "math.inf"}),
    ("rewards reversed", {"rewards": "(1, -1)"}),
    ("rewards not finite", {"rewards": "(0, math.inf)"}),
    ("rewards too large to be squared", {"rewards": "(0, 1e200)"}),
    ("rewards too narrow", {"rewards": "(0, 0.5)"}),
    ("observation shape of texts", {"observation_shape": "('a',)"}),
]
_OTHERKINDS = [
    (
        "chance",
        "chance_outcomes(self, actions, probabilities)",
        [
            ("sum is not one", "actions[0] = 0\nprobabilities[0] = 0.5\nreturn 1"),
            (
                "negative probability",
                "actions[0], actions[1] = 0, 1\nprobabilities[0], probabilities[1] = 1.5, -0.5\nreturn 2",
            ),
            ("probability is NaN", "actions[0] = 0\nprobabilities[0] = math.nan\nreturn 1"),
            ("outcome out of range", "actions[0] = 2\nprobabilities[0] = 1.0\nreturn 1"),
            ("outcome twice", "actions[0], actions[1] = 0, 0\nprobabilities[:] = 0.5\nreturn 2"),
            ("no outcome", "return 0"),
            ("outcomes past the end", "actions[2] = 0\nprobabilities[0] = 1.0\nreturn 1"),
            ("outcomes return None", "actions[0] = 0\nprobabilities[0] = 1.0"),
        ],
    ),
    (
        "chance",
        "random_outcome(self, rng)",
        [("random outcome out of range", "return 5"), ("random outcome fails", "return self.cells[9]")],
    ),
    ("chance", "outcome_text(self, outcome)", [("outcome_text fails", "return 'ab'[outcome + 2]")]),
    (
        "together",
        "legal_actions_of(self, player, out)",
        [
            ("list of one player empty", "out[0] = 0\nreturn 1 - player"),
            ("list of one player past the end", "out[3] = 0\nreturn 1"),
            ("list of one player twice", "out[0], out[1] = 1, 1\nreturn 2"),
            ("list of one player returns None", "out[0] = 0"),
        ],
    ),
    (
        "together",
        "apply_joint(self, actions)",
        [("reads a third player", "self.n -= 1 + actions[2]"), ("endless joint", "while True:\n    self.n = 3")],
    ),
    (
        "numbers",
        "sample_action(self, rng, out)",
        [
            ("draws NaN", "out[0] = math.nan"),
            ("draws past the end", "out[1] = 0.0"),
            ("draw fails", "raise ValueError('no')"),
        ],
    ),
    (
        "numbers",
        "apply_vector(self, values)",
        [
            ("vector past the end", "self.worth = values[1]\nself.n -= 1"),
            ("float in a whole field by a vector", "self.n -= values[0]"),
        ],
    ),
    (
        "hidden",
        "determinize(self, player, rng)",
        [
            ("determinize changes what is known", "self.n = 3"),
            ("determinize changes the player", "self.player = 1 - player"),
            ("determinize fails", "self.cells[9] = 1"),
        ],
    ),
    (
        "hidden",
        "information(self, player)",
        [
            ("information is a float", "return 0.5"),
            ("information is None", "pass"),
            ("information fails", "return self.cells[4 + player]"),
        ],
    ),
    (
        "dealt",
        "deal(self, rng)",
        [
            ("deal out of range", "self.cells[0] = 500"),
            ("deal past the end", "self.cells[4] = rng.below(3)"),
            ("endless deal", "while True:\n    pass"),
        ],
    ),
    (
        "steps",
        "step_rewards(self, out)",
        [
            ("step reward is NaN", "out[0] = math.nan"),
            ("sum of rewards too high", "out[0], out[1] = 1.0, -1.0"),
            ("step reward past the end", "out[2] = 0.0"),
        ],
    ),
]

WRONG = [
    *(
        Wrong(name, methods=methods, before="class Mine(Exception):\n    pass" if "Mine" in str(methods) else "")
        for name, methods in _PLAIN_METHODS
    ),
    *(Wrong(name, options=options) for name, options in _FACTS),
    *(Wrong(name, kind, {method: text}) for kind, method, cases in _OTHERKINDS for name, text in cases),
    Wrong(
        "observes past the end",
        methods={"observe(self, player, out)": "out[4] = 1.0"},
        options={"observation_shape": "(4,)"},
    ),
    Wrong(
        "observes NaN",
        methods={"observe(self, player, out)": "out[0] = math.nan"},
        options={"observation_shape": "(4,)"},
    ),
    Wrong("a module that does not parse", before="def broken(:\n    pass"),
    Wrong("a module that fails", before="treetop.missing()"),
    Wrong("a module that divides by zero", before="1 / 0"),
    Wrong("a module that exits", before="raise SystemExit(0)"),
]
_VALUES = [
    ("plain", "reset(self)"),
    ("plain", "apply(self, action)"),
    ("plain", "rewards(self, out)"),
    ("together", "apply_joint(self, actions)"),
    ("numbers", "sample_action(self, rng, out)"),
    ("numbers", "apply_vector(self, values)"),
    ("hidden", "determinize(self, player, rng)"),
    ("dealt", "deal(self, rng)"),
    ("steps", "step_rewards(self, out)"),
]
VALUES = [
    *(
        Wrong(
            f"{method.partition('(')[0]} returns a value", kind, {method: f"{KINDS[kind][0][method]}\nreturn 1.0, -1.0"}
        )
        for kind, method in _VALUES
    ),
    Wrong("heuristic returns a value", methods={"heuristic(self, out)": "return 0.5"}),
    Wrong(
        "observe returns a value",
        methods={"observe(self, player, out)": "return self.cells"},
        options={"observation_shape": "(4,)"},
    ),
    Wrong(
        "one branch of rewards returns a value",
        methods={"rewards(self, out)": f"if self.player == 0:\n    return 1.0, -1.0\n{PLAIN['rewards(self, out)']}"},
    ),
]
"""Games with a method that must return nothing, and returns something."""
WRONG += VALUES
assert len({wrong.name for wrong in WRONG}) == len(WRONG) >= 100
