"""Read players from a file, by name.

::

    [players.strong]
    spec = "uct(simulations=5000)"

    [players]
    quick = "uct(simulations=100)"          # the same, shorter
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from treetop.checks import closest, shorten
from treetop.errors import ConfigError
from treetop.players.spec import parse_spec, runs_code


def read_players(path: str | Path, *, trusted: bool = False) -> dict[str, str]:
    """Read the players of a TOML file: a spec for each name.

    A file may name bundled players only. With `trusted` it may also name modules (`module:function`) and programs
    (`uci("command")`), which run when a match begins.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    except FileNotFoundError:
        raise ConfigError(f"there is no file {path}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    players = content.pop("players", None)
    if not isinstance(players, dict) or not players:
        raise ConfigError(f'{path} names no players: write [players.NAME] and under it spec = "uct(simulations=1000)"')
    if content:
        raise ConfigError(f"{path}: only [players.NAME] is read, not {', '.join(content)}")
    specs = {name: _spec(path, name, entry) for name, entry in players.items()}
    for name, spec in specs.items():
        if not trusted and runs_code(parse_spec(spec)):
            raise ConfigError(
                f"{path}: [players.{name}] is {shorten(spec)}, which imports a module or starts a program; a file may "
                "name bundled players only: write it on the command line, or trust the file with --trust-players "
                "(in Python: trusted=True)"
            )
    return specs


def find_player(text: str, players: dict[str, str]) -> tuple[str, str]:
    """Return the name and the spec of a player: one of the file's names, or a spec itself."""
    if text in players:
        return text, players[text]
    close = closest(text, players, cutoff=0.8)
    if close and "(" not in text:
        raise ConfigError(f"there is no player called {text!r}; did you mean {close}?")
    return text, text


def _spec(path: Path, name: str, entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, dict) or not isinstance(entry.get("spec"), str):
        raise ConfigError(f'{path}: [players.{name}] lacks its spec, such as spec = "uct(simulations=1000)"')
    unknown = [key for key in entry if key != "spec"]
    if unknown:
        raise ConfigError(f"{path}: [players.{name}] has {', '.join(unknown)}, and only spec is known")
    return str(entry["spec"])
