"""What a search is told: rule, values, proofs, root, final move, memory. Frozen; unknown, impossible or contradictory settings are errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from treetop.errors import ConfigError
from treetop.search.rule import Rule

TieBreak = Callable[[Sequence[int]], int]
"""Given the actions that are tied, in order, returns one of them."""

RULES = ("ucb1", "puct", "ucb1_tuned", "ucb_v", "rave", "history", "thompson", "blind", "completed", "regret")
SCHEDULES = ("constant", "alphazero", "katago", "divided")
BACKUPS = ("mean", "max", "mixed", "implicit")
ROOTS = ("rule", "gumbel", "halving")
FINALS = ("visits", "value", "secure", "lcb", "temperature", "mixed")
VIRTUALS = ("watch", "loss", "mix")
OPPONENTS = ("own", "paranoid")
INFORMATION = ("honest", "deals", "open")
OBSERVERS = ("all", "one")
CHANCES = ("drawn", "expected", "open")


_LARGEST = 2**31 - 1  # whole numbers are settings of the kernels, which keep them in 32 bits


@dataclass(frozen=True)
class SearchConfig:
    """All settings of a search. `uct()`, `puct()`, `grave()`, `gumbel()` and the other presets make one with the usual defaults."""

    rule: (
        Literal["ucb1", "puct", "ucb1_tuned", "ucb_v", "rave", "history", "thompson", "blind", "completed", "regret"]
        | Rule
    ) = "ucb1"
    """Which child to follow: see docs/rules.md. A rule of your own is a function under `@treetop.rule`."""
    c: float = math.sqrt(2)
    """The raw exploration factor of the rule's formula."""
    c_base: float | None = None
    """PUCT: the base of a schedule in which c grows with the visits N."""
    c_schedule: Literal["constant", "alphazero", "katago", "divided"] | None = None
    """PUCT: alphazero is c + ln((1 + N + c_base) / c_base), katago c + c_log * ln((N + c_base) / c_base), divided
    c * (ln(t + 1) + c_log) / (1 + n) for t simulations at the root. Not said: alphazero where c_base is given, else constant."""
    c_log: float = 0.45
    """PUCT: the factor of katago's schedule, or divided's small number."""
    variance_scale: float = 0.0
    """PUCT: how far the bonus follows the spread of the values; 0 not at all, 1 in full."""
    amaf_reference: int = 0
    """RAVE: nodes with at most so many visits borrow the statistics of an ancestor (GRAVE); 0: every node uses its own."""
    amaf_bias: float = 1e-4
    """RAVE: the bias of the schedule of least error; the larger, the sooner a move is judged by its own visits alone."""
    amaf_k: float | None = None
    """RAVE: with it the share is sqrt(k / (3 N + k)) instead."""
    history_weight: float = 3.0
    """Progressive history: the weight of what a move was worth elsewhere."""
    history_decay: float = 0.6
    """What is left of the tables of past moves after each move that is played."""
    completed_visits: float = 50.0
    completed_scale: float = 0.1
    """Completed values: a value counts (completed_visits + most visits) * completed_scale, beside the prior's logit."""

    first_play: float | Literal["parent", "scaled"] | None = None
    """The value assumed of a move that was never tried: a number; the parent's value less `first_play_reduction`; or less the
    reduction times the square root of the prior that was tried. Not said: PUCT takes the middle of the utility range, UCB1 tries all."""
    first_play_reduction: float = 0.25
    backup: Literal["mean", "max", "mixed", "implicit"] = "mean"
    """How values go up: the mean; the best child's; `minimax_share` of the best child's and the rest of the mean; or the mean with
    that share of the game's heuristic, seen through minimax."""
    minimax_share: float = 0.4
    discount: float = 1.0
    """What a return is worth one move earlier. Outcomes of chance take no time."""
    opponents: Literal["own", "paranoid"] = "own"
    """With three players or more: everybody plays for himself (max^n), or the others are taken to play against whoever is to move."""
    normalise: bool | None = None
    """Whether rules see values on the scale from the lowest to the highest mean in the tree. Not said: where the utility range is wider than 2."""

    chance: Literal["drawn", "expected", "open"] = "drawn"
    """An outcome of chance is drawn and backed up as it came; or what is backed up are all outcomes' values by their probabilities; or outcomes are not
    told apart at all: a node is the moves that lead there, whatever chance did (open loop)."""
    chance_widening: float | None = None
    """After N visits of chance at most ceil(chance_widening * N ** widening_power) different outcomes are followed. With widening of the moves: double
    progressive widening."""
    information: Literal["honest", "deals", "open"] = "honest"
    """Where something is hidden: the search knows what its player has seen, in one tree of what players see; or it draws `deals` that the player may be in,
    searches each with open cards and adds up (a determinised ensemble); or it looks at the real cards (it cheats, and is named so)."""
    deals: int = 30
    """For `information="deals"`: how many."""
    observers: Literal["all", "one"] = "all"
    """Where something is hidden: everybody chooses by what he himself has seen, or by what the searcher has."""
    regret_mix: float = 0.2
    """The rule 'regret': how often any action is tried, whatever its regret."""

    solver: bool = False
    """Keep proven bounds, pass proven moves by, stop when the root is proven."""
    transpositions: bool | int = False
    """Make one node of a position that is reached by several ways. A number bounds the table that finds them."""
    repetition: float | None = None
    """In a graph: what a repetition is worth, in zero-sum games to player 0. Default: the middle of the reward range."""
    expand_after: int | None = None
    """Visits that a leaf needs before it is expanded. Not said: 1 with rollouts, 0 with an evaluator that gives priors."""
    max_depth: int | None = None
    """No node deeper than this is expanded; the search evaluates there."""
    max_nodes: int | None = None
    """The tree never holds more nodes: at the bound the least visited subtrees are folded and the search goes on."""
    widening: float | None = None
    """Progressive widening: with N visits the ceil(widening * N ** widening_power) likeliest moves are open."""
    widening_power: float = 0.5

    root: Literal["rule", "gumbel", "halving"] = "rule"
    """Who chooses at the root: the rule; sequential halving over Gumbel numbers, for a known number of simulations; or anytime halving."""
    max_considered: int = 16
    """Gumbel: moves of the root that are looked at, at most."""
    gumbel_scale: float | None = None
    """Gumbel: the factor of the root's Gumbel numbers, which are noise: 0 plays the best move known. Default: 1 in a search, as training needs it, and 0
    for a player in a match."""
    noise: float = 0.0
    """The share of Dirichlet noise in the root's priors, renewed at every move."""
    noise_alpha: float | None = None
    """Not said: 10 / the number of legal moves."""
    noise_final: float | None = None
    """The share that the noise falls to over `noise_moves` moves."""
    noise_moves: int = 30
    forced_playouts: float = 0.0
    """PUCT: a tried move of the root gets at least sqrt(forced_playouts * P * N) visits; `result.target()` takes them out again."""

    final: Literal["visits", "value", "secure", "lcb", "temperature", "mixed"] = "visits"
    """How the move to play is chosen at the end."""
    secure_beta: float = 1.0
    """For `final="secure"`: the value less so many standard deviations."""
    lcb_radius: float = 5.0
    """For `final="lcb"`: standard errors between a value and its lower confidence bound."""
    temperature: float = 1.0
    """For `final="temperature"`: the move is drawn with probability visits ** (1 / temperature)."""
    temperature_decay: float = 1.0
    temperature_final: float = 0.0
    """The temperature at a move is max(temperature_final, temperature * temperature_decay ** moves played)."""
    virtual: Literal["watch", "loss", "mix"] = "watch"
    """What an evaluation in flight counts as: a visit in the exploration term; a lost one; or lost below `virtual_until` visits."""
    virtual_until: int = 100
    batch_size: int = 32
    """Leaves that an evaluator in Python is given at once by `run`."""
    tie_break: Literal["random", "first"] | TieBreak = "random"
    """Who decides between exactly equal scores: the seed, the order of the moves, or a function of yours."""
    stop_when_forced: bool = True
    """Where there is only one legal move, stop as soon as it has a value."""

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Rule):
            _one_of("rule", self.rule, RULES, " or a function under @treetop.rule")
        for name, allowed in (
            ("backup", BACKUPS),
            ("root", ROOTS),
            ("final", FINALS),
            ("virtual", VIRTUALS),
            ("opponents", OPPONENTS),
            ("information", INFORMATION),
            ("observers", OBSERVERS),
            ("chance", CHANCES),
        ):
            _one_of(name, getattr(self, name), allowed)
        if not callable(self.tie_break):
            _one_of("tie_break", self.tie_break, ("random", "first"), " or a function")
        if self.c_schedule is not None:
            _one_of("c_schedule", self.c_schedule, SCHEDULES)
        if isinstance(self.first_play, str):
            _one_of("first_play", self.first_play, ("parent", "scaled"), " or a number")
        elif self.first_play is not None:
            _number("first_play", self.first_play)
        for name in ("solver", "stop_when_forced"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} must be true or false, not {getattr(self, name)!r}")
        self._check_numbers()
        self._check_together()

    def _check_numbers(self) -> None:
        for name in (
            "c",
            "variance_scale",
            "amaf_bias",
            "history_weight",
            "completed_visits",
            "completed_scale",
            "first_play_reduction",
            "forced_playouts",
            "secure_beta",
            "lcb_radius",
            "temperature_final",
            "c_log",
        ):
            _number(name, getattr(self, name), low=0.0)
        _number("temperature", self.temperature, low=0.0, infinite=True)
        if self.gumbel_scale is not None:
            _number("gumbel_scale", self.gumbel_scale, low=0.0)
        for name in ("c_base", "amaf_k", "noise_alpha", "widening", "chance_widening"):
            if getattr(self, name) is not None:
                _number(name, getattr(self, name), low=0.0, open_low=True)
        for name in (
            "minimax_share",
            "regret_mix",
            "noise",
            "noise_final",
            "history_decay",
            "widening_power",
            "discount",
            "temperature_decay",
        ):
            if getattr(self, name) is not None:
                _share(name, getattr(self, name))
        if self.repetition is not None:
            _number("repetition", self.repetition)
        for name, low in (
            ("expand_after", 0),
            ("max_depth", 1),
            ("max_nodes", 2),
            ("amaf_reference", 0),
            ("max_considered", 1),
            ("noise_moves", 1),
            ("virtual_until", 0),
            ("batch_size", 1),
            ("deals", 1),
        ):
            _whole(name, getattr(self, name), low)
        if not isinstance(self.transpositions, bool):
            _whole("transpositions", self.transpositions, 1024)
        if self.normalise is not None and not isinstance(self.normalise, bool):
            raise ConfigError(f"normalise must be true, false or None, not {self.normalise!r}")

    def _check_together(self) -> None:
        """Refuse what would have no effect, or could not mean anything, together."""
        for condition, told in (
            (
                self.rule != "puct" and (self.c_base is not None or self.c_schedule is not None),
                "c_base and c_schedule are schedules of PUCT",
            ),
            (self.rule != "puct" and self.variance_scale > 0, "variance_scale is for PUCT"),
            (self.rule != "puct" and self.forced_playouts > 0, "forced_playouts is for PUCT"),
            (
                self.rule not in ("puct", "completed") and self.noise > 0,
                "noise changes priors, which only PUCT and completed values read",
            ),
            (
                self.rule in ("rave", "thompson", "blind", "completed") and self.first_play is not None,
                f"first_play has no meaning for the rule {self.rule!r}",
            ),
            (
                self.c_schedule in ("alphazero", "katago") and self.c_base is None,
                f"the schedule {self.c_schedule!r} needs a c_base",
            ),
            (
                self.c_schedule in ("constant", "divided") and self.c_base is not None,
                f"the schedule {self.c_schedule!r} has no c_base",
            ),
            (
                self.rule != "rave" and (self.amaf_reference > 0 or self.amaf_k is not None),
                "amaf_reference and amaf_k are for the rule 'rave'",
            ),
            (
                self.rule == "blind" and self.tie_break != "random",
                "the blind rule draws at random: tie_break must be 'random'",
            ),
            (
                self.root == "gumbel" and self.noise > 0,
                "Gumbel numbers are the noise of root='gumbel': leave noise out",
            ),
            (self.root != "rule" and self.forced_playouts > 0, "forced playouts are for root='rule'"),
            (
                self.root != "rule" and self.rule == "rave",
                f"root={self.root!r} passes RAVE's statistics at the root by: use another rule",
            ),
            (
                self.rule == "rave" and (self.backup != "mean" or bool(self.normalise)),
                "RAVE blends plain means: leave backup and normalise out",
            ),
            (
                self.root != "rule" and self.widening is not None,
                "widening at the root contradicts a root that looks at all moves",
            ),
            (self.solver and self.discount != 1.0, "the solver proves undiscounted outcomes: discount must be 1"),
            (self.noise_final is not None and not self.noise, "noise_final is where the noise ends: give noise too"),
            (
                self.chance == "open" and self.chance_widening is not None,
                "chance='open' tells no outcomes apart, so there are none to widen: leave chance_widening out",
            ),
        ):
            if condition:
                raise ConfigError(told)
        if self.transpositions:
            self._check_graph()

    def _check_graph(self) -> None:
        plain = {
            "backup": "mean",
            "discount": 1.0,
            "widening": None,
            "root": "rule",
            "forced_playouts": 0.0,
            "variance_scale": 0.0,
            "virtual": "watch",
            "tie_break": self.tie_break,
        }
        refused = [name for name, value in plain.items() if getattr(self, name) != value]
        if (
            self.rule not in ("ucb1", "puct")
            or refused
            or self.final in ("secure", "lcb")
            or self.c_schedule in ("katago", "divided")
        ):
            if self.c_schedule in ("katago", "divided"):
                refused.append(f"c_schedule={self.c_schedule!r}")
            what = ", ".join(refused) or (
                f"final={self.final!r}" if self.final in ("secure", "lcb") else f"the rule {self.rule!r}"
            )
            raise ConfigError(f"transpositions go with UCB1 and PUCT, the mean and the solver; not with {what}")

    def but(self, **changes: Any) -> SearchConfig:
        """The same settings with a few changed."""
        return replace(self, **changes)

    def for_play(self) -> SearchConfig:
        """Return the settings for a player: without the noise of Gumbel numbers, unless `gumbel_scale` is given."""
        return self.but(gumbel_scale=0.0) if self.root == "gumbel" and self.gumbel_scale is None else self

    @property
    def schedule(self) -> str:
        """PUCT's schedule, said or implied."""
        return self.c_schedule or ("alphazero" if self.c_base is not None else "constant")

    def temperature_at(self, moves: int) -> float:
        """The temperature after so many moves."""
        return max(self.temperature_final, self.temperature * self.temperature_decay**moves)

    def noise_at(self, moves: int) -> float:
        """The share of noise after so many moves."""
        if self.noise_final is None:
            return self.noise
        return self.noise + (self.noise_final - self.noise) * min(1.0, moves / self.noise_moves)

    def changed(self) -> dict[str, Any]:
        """The settings that are not the defaults."""
        default = SearchConfig()
        return {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if getattr(self, name) != getattr(default, name)
        }

    def __str__(self) -> str:
        schedule = {
            "alphazero": f" + ln((1 + N + {self.c_base or 0:g}) / {self.c_base or 0:g})",
            "katago": " growing",
            "divided": " divided",
        }
        options = {
            key: value
            for key, value in self.changed().items()
            if key not in ("rule", "c", "c_base", "c_schedule", "tie_break")
        }
        more = "".join(
            f", {key}={value if not isinstance(value, str) else repr(value)}" for key, value in options.items()
        )
        return f"{self.rule}(c={self.c:g}{schedule.get(self.schedule, '')}{more})"


def make_config(**options: Any) -> SearchConfig:
    """A `SearchConfig`, with an unknown option told as a `ConfigError`."""
    try:
        return SearchConfig(**options)
    except TypeError as error:
        names = ", ".join(SearchConfig.__dataclass_fields__)
        raise ConfigError(f"{str(error).split(') ', 1)[-1]}; the options are {names}") from None


def _one_of(name: str, value: object, allowed: tuple[str, ...], more: str = "") -> None:
    if value not in allowed:
        raise ConfigError(f"{name} must be {' or '.join(map(repr, allowed))}{more}, not {value!r}")


def _number(name: str, value: Any, *, low: float = -math.inf, open_low: bool = False, infinite: bool = False) -> None:
    good = (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and (isinstance(value, float) or abs(value) < 2**63)
        and not math.isnan(value)
    )
    good = good and (infinite or math.isfinite(value)) and (value > low if open_low else value >= low)
    if not good:
        bound = "" if low == -math.inf else (f" above {low:g}" if open_low else f" of at least {low:g}")
        raise ConfigError(f"{name} must be a number{bound}, not {value!r}")


def _share(name: str, value: Any) -> None:
    _number(name, value)
    if not 0.0 <= value <= 1.0:
        raise ConfigError(f"{name} must be a number from 0 to 1, not {value!r}")


def _whole(name: str, value: Any, low: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not low <= value <= _LARGEST):
        raise ConfigError(
            f"{name} must be a whole number of at least {low}{f' and at most {_LARGEST}' if isinstance(value, int) and value > low else ''}, not {value!r}"
        )
