"""The anchor ladders: players of known kind for each game, from the weakest to the strongest as far as is expected.

A rung is a spec; `$name` in it is a parameter of the game. Engines that are not installed, and players that do not fit
a game, are left out of its ladder.
"""

from __future__ import annotations

from string import Template

from treetop.errors import ConfigError, PlayerError
from treetop.game.definition import Game
from treetop.game.registry import load_bundled
from treetop.players.spec import make_player

GENERAL = (
    "random",
    "greedy",
    "alphabeta(depth=2)",
    "uct(simulations=100)",
    "uct(simulations=1000)",
    "uct(simulations=10000)",
    "regret_matching(simulations=1000)",
)
"""The rungs of games without engines."""

_SKILLS = (-20, -10, 0, 10, 20)
_SEARCHES = ("random", "uct(simulations=100)", "uct(simulations=1000)")
_GNU_GO = "gnugo --mode gtp --chinese-rules --positional-superko --capture-all-dead --never-resign --level"


def _fairy(protocol: str, variant: str) -> tuple[str, ...]:
    """Return the rungs of Fairy-Stockfish at several levels."""
    return tuple(
        f"{protocol}('fairy-stockfish', variant='{variant}', nodes=10000, options={{'Skill Level': {skill}}})"
        for skill in _SKILLS
    )


ANCHORS: dict[str, tuple[str, ...]] = {
    "backgammon": (
        "random",
        *(f"gnubg(level='{level}')" for level in ("beginner", "casual", "intermediate", "advanced", "expert")),
    ),
    "breakthrough": (*_SEARCHES, *_fairy("uci", "breakthrough")),
    "chess": (
        *_SEARCHES,
        "alphabeta(depth=2)",
        "uci('gnuchess --uci', depth=1, check=0)",
        "cecp('fairymax', depth=4)",
        "uci('gnuchess --uci', depth=6, check=0)",
        "cecp('phalanx -b- -l-', seconds=1)",
        "uci('stockfish', nodes=1000)",
        "uci('stockfish', nodes=10000)",
        "uci('stockfish', nodes=100000)",
    ),
    "chess(variant='960')": (
        *_SEARCHES,
        "alphabeta(depth=2)",
        *(
            f"uci('stockfish', nodes={nodes}, options={{'UCI_Chess960': True}})"
            for nodes in (100, 1_000, 10_000, 100_000)
        ),
    ),
    "go": (*_SEARCHES, *(f"gtp('{_GNU_GO} {level}', komi=$komi)" for level in (0, 5, 8, 10))),
    "minishogi": (*_SEARCHES, *_fairy("usi", "minishogi")),
    "shogi": (*_SEARCHES, *_fairy("usi", "shogi")),
    "xiangqi": (*_SEARCHES, *_fairy("uci", "xiangqi")),
}
"""The rungs of games for which there are engines, by family or, for other parameters than the default, by name."""
_ANY_PARAMETERS = ("backgammon", "go")
"""Families whose engines play with all parameters."""


def rungs_of(game: Game) -> tuple[str, ...]:
    """Return the specs of a game's ladder, the weakest first, whether they are installed or not.

    >>> import treetop as tt
    >>> rungs_of(tt.load_game("go(size=9)"))[-1][-14:]
    "10', komi=7.5)"
    >>> rungs_of(tt.load_game("othello")) == GENERAL
    True
    """
    if not game.is_bundled or game.family is None:
        return GENERAL
    if game.name in ANCHORS:
        found = ANCHORS[game.name]
    elif game.family in _ANY_PARAMETERS or load_bundled(game.family) is game:
        found = ANCHORS.get(game.family, GENERAL)
    else:
        found = GENERAL
    return tuple(Template(rung).substitute(game.parameters) for rung in found)


def split_rungs(game: Game, rungs: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Return the rungs that can be played here, and the others with what prevents it.

    >>> import treetop as tt
    >>> split_rungs(tt.load_game("nim_three"), ("random", "alphabeta(depth=2)"))[0]
    ['random']
    """
    playable: list[str] = []
    left_out: dict[str, str] = {}
    for rung in rungs:
        try:
            make_player(rung, game).close()
        except (ConfigError, PlayerError) as error:
            left_out[rung] = str(error).partition("\n")[0]
        else:
            playable.append(rung)
    return playable, left_out
