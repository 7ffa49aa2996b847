"""The shape of a policy and value network, and the arrays that its weights consist of."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from treetop import checks
from treetop.errors import ConfigError, SaveError
from treetop.evaluators.networks.places import planes_of
from treetop.game.definition import Game
from treetop.search.states import observation_shape

SIZES = {"tiny": (16, 2), "small": (32, 3), "medium": (64, 3)}
"""Channels and blocks of a residual network, by name."""
DENSE_SIZES = {"tiny": (64, 2), "small": (128, 2), "medium": (256, 3)}
"""Units and layers of a network of dense layers, by name."""
HEADS = ("tanh", "linear", "outcomes")
"""What the value head gives: values from -1 to 1, values on the game's own scale, or logits of win, draw and loss."""
_MOST = 2**16
_HEAD = 2048  # numbers that the dense layers of a head begin with, at most: boards of many squares get few planes


@dataclass(frozen=True)
class Architecture:
    """The shape of a network. Boards have a residual network of 3x3 convolutions, other observations dense layers.

    >>> import treetop as tt
    >>> Architecture.of(tt.load_game("connect_four"), "tiny")
    Architecture(kind='residual', observation=(3, 6, 7), actions=7, values=1, width=16, depth=2, head='tanh', planes=0)
    """

    kind: str
    """residual, dense, or own: a module of the user's, whose width and depth are not known and stand as 1."""
    observation: tuple[int, ...]
    actions: int
    values: int
    """Numbers of the value head: 1 for the player to move, or one for each player, the player to move first."""
    width: int
    """Channels, or units of a layer."""
    depth: int
    """Residual blocks, or layers."""
    head: str = "tanh"
    """What the value head gives: tanh, linear or outcomes."""
    planes: int = 0
    """Planes of the policy, from which the actions are read; 0: a dense layer gives the logits of all actions."""

    def __post_init__(self) -> None:
        checks.one_of("kind", self.kind, ("residual", "dense", "own"))
        checks.one_of("head", self.head, HEADS)
        for name in ("actions", "values", "width", "depth"):
            checks.whole(name, getattr(self, name), 1, _MOST)
        checks.whole("planes", self.planes, 0, _MOST)
        shape = self.observation
        if not shape or len(shape) > 3 or not all(checks.is_whole(length) and 0 < length <= _MOST for length in shape):
            raise ConfigError(f"an observation has one to three lengths, not {checks.shorten(shape)}")
        if self.kind == "residual" and len(shape) != 3:
            raise ConfigError(f"a residual network needs planes of a board, (planes, rows, columns), not {shape}")
        if self.planes and (self.kind != "residual" or self.planes * math.prod(shape[1:]) < self.actions):
            raise ConfigError(f"{self.planes} policy planes of {shape} have no places for {self.actions} actions")
        if self.head == "outcomes" and self.values != 1:
            raise ConfigError("outcomes=True is for games in which one value determines that of the other player")

    @classmethod
    def of(cls, game: Game, size: str = "small", *, outcomes: bool = False, own: bool = False) -> Architecture:
        """Return the usual shape for a game's observations: tiny, small or medium; with `own` that of any module.

        Games for one player and games with immediate rewards have a linear head: their returns may be a small part of
        the range that the game declares.
        """
        shape, facts = observation_shape(game), game.facts
        values = 1 if facts.zero_sum else facts.players
        if own:
            return cls("own", shape, facts.num_actions, values, 1, 1, "outcomes" if outcomes else "tanh")
        kind = "residual" if len(shape) == 3 and min(shape[1:]) >= 3 else "dense"
        sizes = SIZES if kind == "residual" else DENSE_SIZES
        width, depth = sizes[checks.one_of("size", size, tuple(sizes))]
        linear = facts.players == 1 or game.has("step_rewards")
        head = "outcomes" if outcomes else "linear" if linear else "tanh"
        planes = planes_of(game) if kind == "residual" else 0
        return cls(kind, shape, facts.num_actions, values, width, depth, head, planes)

    @classmethod
    def from_dict(cls, given: Any) -> Architecture:
        """Return the shape that a manifest describes; raise SaveError where it describes none."""
        names = {field.name for field in fields(cls)}
        known = isinstance(given, dict) and names - {"planes"} <= given.keys() <= names  # older files have no planes
        if not known or not isinstance(given["observation"], list):
            raise SaveError(f"the architecture of a network has the fields {', '.join(sorted(names))}")
        try:
            return cls(**{**given, "observation": tuple(given["observation"])})
        except (ConfigError, TypeError) as error:
            raise SaveError(f"the architecture of a network is wrong: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"observation": list(self.observation)}

    @property
    def outputs(self) -> int:
        """The numbers that the last layer of the value head has."""
        return 3 if self.head == "outcomes" else self.values

    def layers(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each layer's weights by name; its bias has the first length.

        >>> list(Architecture("dense", (4,), 2, 1, 8, 1).layers().items())
        [('layer0', (8, 4)), ('policy', (2, 8)), ('value.hidden', (8, 8)), ('value', (1, 8))]
        """
        found: dict[str, tuple[int, ...]] = {}
        width, size = self.width, math.prod(self.observation)
        if self.kind == "dense":
            for layer in range(self.depth):
                found[f"layer{layer}"] = (width, width if layer else size)
            found |= {"policy": (self.actions, width), "value.hidden": (width, width)}
        else:
            planes, squares = self.observation[0], math.prod(self.observation[1:])
            found["stem"] = (width, planes, 3, 3)
            for block in range(self.depth):
                found |= {f"block{block}.first": (width, width, 3, 3), f"block{block}.second": (width, width, 3, 3)}
            heads = max(2, min(width // 2, _HEAD // squares))  # planes that each head reduces the trunk to
            if self.planes:
                found |= {"policy.planes": (width, width, 1, 1), "policy": (self.planes, width, 1, 1)}
            else:
                found |= {"policy.planes": (heads, width, 1, 1), "policy": (self.actions, heads * squares)}
            found |= {"value.planes": (heads, width, 1, 1), "value.hidden": (width, heads * squares)}
        return found | {"value": (self.outputs, width)}

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of the weights, biases included."""
        layers = self.layers()
        return {f"{name}.weight": shape for name, shape in layers.items()} | {
            f"{name}.bias": shape[:1] for name, shape in layers.items()
        }

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(math.prod(shape) for shape in self.arrays().values())
