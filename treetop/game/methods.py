"""The methods of games: their arguments, and which belong together."""

from __future__ import annotations

from treetop.compiler.engine import Signatures

REQUIRED = ("reset", "legal_actions", "apply", "is_terminal", "rewards")
SIGNATURES: Signatures = {
    "reset": lambda t: (),
    "legal_actions": lambda t: (t.int32[::1],),
    "apply": lambda t: (t.int64,),
    "is_terminal": lambda t: (),
    "rewards": lambda t: (t.float64[::1],),
    "current_player": lambda t: (),
    "deal": lambda t: ("rng",),
    "random_action": lambda t: ("rng",),
    "rollout_action": lambda t: ("rng",),
    "chance_outcomes": lambda t: (t.int32[::1], t.float64[::1]),
    "step_rewards": lambda t: (t.float64[::1],),
    "determinize": lambda t: (t.int64, "rng"),
    "key": lambda t: (),
    "observe": lambda t: (t.int64, t.float32[::1]),
    "heuristic": lambda t: (t.float64[::1],),
    "random_outcome": lambda t: ("rng",),
    "information": lambda t: (t.int64,),
    "legal_actions_of": lambda t: (t.int64, t.int32[::1]),
    "apply_joint": lambda t: (t.int64[::1],),
    "sample_action": lambda t: ("rng", t.float64[::1]),
    "apply_vector": lambda t: (t.float64[::1],),
    "transform": lambda t: (t.int64,),
    "transform_action": lambda t: (t.int64, t.int64),
    "transform_outcome": lambda t: (t.int64, t.int64),
}
FOR_PEOPLE = {
    "render": 0,
    "render_for": 1,
    "board": 0,
    "move_text": 1,
    "outcome_text": 1,
    "parse_move": 1,
    "parse": 1,
    "summary": 0,
}
PAIRS = (
    ("legal_actions_of", "apply_joint", "simultaneous moves"),
    ("sample_action", "apply_vector", "continuous actions"),
    ("determinize", "information", "imperfect information"),
    ("transform", "transform_action", "symmetries"),
)
"""Methods that need each other, and what they are for."""
ARITY = {
    "reset": 0,
    "legal_actions": 1,
    "apply": 1,
    "is_terminal": 0,
    "rewards": 1,
    "current_player": 0,
    "deal": 1,
    "random_action": 1,
    "rollout_action": 1,
    "chance_outcomes": 2,
    "step_rewards": 1,
    "determinize": 2,
    "key": 0,
    "observe": 2,
    "heuristic": 1,
    "random_outcome": 1,
    "information": 1,
    "legal_actions_of": 2,
    "apply_joint": 1,
    "sample_action": 2,
    "apply_vector": 1,
    "transform": 1,
    "transform_action": 2,
    "transform_outcome": 2,
    **FOR_PEOPLE,
}
