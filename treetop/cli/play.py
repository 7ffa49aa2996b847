"""`treetop play`: a game against the engine, in the terminal. However it ends, the game is not lost."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from treetop.cli.common import (
    CHOSEN,
    FAINT,
    Exploration,
    MaybeGameName,
    MaybeSeed,
    Moves,
    RuleName,
    Seconds,
    Simulations,
    find_game,
    look_here,
    make_config,
    refuse_missing_folder,
    run_shown,
    screen,
)
from treetop.errors import ConfigError, IllegalMoveError, SaveError, TreetopError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.records import GameRecord, load_game_record, save_game
from treetop.game.registry import position as position_of

if TYPE_CHECKING:
    from treetop.search.config import SearchConfig
    from treetop.search.limits import Limit
    from treetop.search.result import SearchResult
    from treetop.search.search import Search

_DEFAULT_SECONDS = 1.0
_HELP = """\
a move       play it; `moves` lists what is legal
undo         take back your last move, and the engine's answer
hint         what the engine would play in your place
moves        the legal moves
board        the position again
save FILE    write the game to a file and go on
quit         stop; the game is kept and can be resumed (so do Ctrl-C and Ctrl-D)"""

Person = Annotated[str | None, typer.Option("--player", metavar="0|1|none|both", help="Who you are; 0 if not given. Also a list: 0,2.")]
Second = Annotated[bool, typer.Option("--second", help="Let the engine begin: the same as --player 1.")]
Resume = Annotated[Path | None, typer.Option("--resume", metavar="FILE", help="Go on with a saved game.")]
SaveTo = Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Where to keep the game; GAME.game.json if not given.")]


def play(
    game: MaybeGameName = None,
    moves: Moves = None,
    person: Person = None,
    second: Second = False,
    simulations: Simulations = None,
    seconds: Seconds = None,
    rule: RuleName = None,
    c: Exploration = None,
    seed: MaybeSeed = None,
    resume: Resume = None,
    save: SaveTo = None,
) -> None:
    """Play against the engine. Type a move, or help.

    The engine thinks for one second a move if nothing else is said. A game that is left is written to a file and can be resumed.
    """
    if second and person is not None:
        raise ConfigError("--second is --player 1: give only one of them")
    if resume is not None:
        if moves is not None:
            raise ConfigError("--resume brings its own moves: leave out --moves")
        start, people, settings = _resumed(resume, game)
    elif game is None:
        raise ConfigError("which game? Give its name, or --resume a saved one")
    else:
        start, people, settings = position_of(find_game(game), moves or ""), (0,), _Settings()
    if second or person is not None:
        people = _people("1" if second else person or "", start.game)
    settings = settings.but(rule, c, seed, simulations, seconds)
    refuse_missing_folder(save)
    with _hang_up_is_quitting():
        _Session(start, people, settings, save, resume).run()


@dataclass(frozen=True)
class _Settings:
    """How the engine plays."""

    rule: str = "uct"
    c: float | None = None
    seed: int = 0
    simulations: int | None = None
    seconds: float | None = _DEFAULT_SECONDS

    def but(
        self, rule: str | None, c: float | None, seed: int | None, simulations: int | None, seconds: float | None
    ) -> _Settings:  # fmt: skip
        """With what was asked for now. A new limit takes the place of the whole old one."""
        limit = (self.simulations, self.seconds) if simulations is None and seconds is None else (simulations, seconds)
        return _Settings(rule or self.rule, self.c if c is None else c, self.seed if seed is None else seed, *limit)


def _resumed(path: Path, game: str | None) -> tuple[Position, tuple[int, ...], _Settings]:
    look_here()
    known = None if game is None else find_game(game)
    record = load_game_record(path, game=known)
    try:
        settings = _Settings(record.rule, record.c, record.seed, record.simulations, record.seconds)
        _Engine(settings)
    except ConfigError as error:
        raise SaveError(f"{path} is damaged: {error}") from error
    return record.position(known), record.person, settings


def _people(text: str, game: Game) -> tuple[int, ...]:
    """The players that people play."""
    everybody = range(game.facts.players)
    words = {"none": (), "both": tuple(everybody), "all": tuple(everybody)}
    if text in words:
        return words[text]
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) in everybody for part in parts):
        raise ConfigError(f"--player: the players of {game.name} are {', '.join(map(str, everybody))}; or say none or both; not {text!r}")
    return tuple(sorted({int(part) for part in parts}))


@contextmanager
def _hang_up_is_quitting() -> Iterator[None]:
    """A closed terminal or a kind kill ends the game as Ctrl-C does: without loss."""
    names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), signal.default_int_handler) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


class _Engine:
    """The engine's side: one search that follows the game as long as it can, so that what was seen is kept."""

    def __init__(self, settings: _Settings) -> None:
        from treetop.search.limits import Limit

        self.limit: Limit = Limit(settings.simulations, settings.seconds)
        self.config: SearchConfig = make_config(settings.rule, settings.c)
        self._seed = settings.seed
        self._search: Search | None = None

    def think(self, position: Position, what: str) -> SearchResult:
        """Search a position, with the tree of the earlier ones where the game went through it."""
        self._search = self._following(position)
        return run_shown(self._search, self.limit, what)

    def _following(self, position: Position) -> Search:
        from treetop.search.search import Search

        search = self._search
        if search is not None:
            known = search.position.actions
            if position.actions[: len(known)] == known:
                for action in position.actions[len(known) :]:
                    search.advance(action)
                return search
        return Search(position, self.config, seed=self._seed)


class _Session:
    """One game at the prompt."""

    def __init__(self, start: Position, people: tuple[int, ...], settings: _Settings, save: Path | None, resumed: Path | None) -> None:
        self.position, self.people, self.settings = start, people, settings
        self.engine = _Engine(settings)
        self._begun = start.actions
        self._asked_file = save or resumed
        self._screen = screen()
        self._commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo, "hint": self._hint, "moves": self._moves, "board": self._board, "save": self._save,
            "quit": self._quit, "exit": self._quit, "help": self._help,
        }  # fmt: skip

    def run(self) -> None:
        """Play until the game is over or somebody leaves."""
        self._greet()
        try:
            while not self.position.is_terminal:
                if self.position.player in self.people:
                    self._ask()
                else:
                    self._answer()
        except (EOFError, KeyboardInterrupt):
            self._leave()
            return
        except TreetopError:  # rules that fail in the middle of a game must not cost the game
            self._leave()
            raise
        self._end()

    # The two sides.

    def _ask(self) -> None:
        text = self._read(f"player {self.position.player}, your move: ")
        if not text:
            return
        word, _, rest = text.partition(" ")
        command = self._commands.get(word.lower())
        if command is not None:
            command(rest.strip())
            return
        try:
            action = self.position.parse_move(text)
        except IllegalMoveError as error:
            words, _, board = str(error).partition("\n")
            self._print(words)
            self._draw(board)
            return
        self.position = self.position.apply(action)
        if self.position.player in self.people or self.position.is_terminal:
            self._draw(f"\n{self.position}")

    def _read(self, prompt: str) -> str:
        if sys.stdin.isatty():
            with suppress(ImportError):  # arrow keys and history, where the system has them
                import readline  # noqa: F401
            return input(prompt).strip()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        self._print(f"{prompt}{line.strip()}")  # nobody typed it on the screen, so that the game still reads as one
        return line.strip()

    def _answer(self) -> None:
        player = self.position.player
        result = self.engine.think(self.position, f"player {player} thinks")
        if result.interrupted:
            raise KeyboardInterrupt  # the search ends cleanly; here it means that the person leaves
        self.position = self.position.apply(result.action)
        told = f"  (value {result.value:+.3f} for player {player}; {result.simulations:,} simulations)"
        self._print(Text.assemble(f"\nplayer {player}, the engine, plays ", (result.move, CHOSEN), (told, FAINT)))
        self._draw(f"\n{self.position}")

    # Commands.

    def _undo(self, _: str) -> None:
        """Back to where a person last chose."""
        earlier = Position(self.position.game)
        turns = []
        for action in self.position.actions:
            if earlier.player in self.people:
                turns.append(earlier)
            earlier = earlier.apply(action)
        if not turns:
            self._print("there is no move of yours to take back\n")
            return
        taken = self.position.moves()[len(turns[-1].actions) :]
        self.position = turns[-1]
        self._print(f"took back {' and '.join(taken)}")
        self._draw(f"\n{self.position}")

    def _hint(self, _: str) -> None:
        result = self.engine.think(self.position, "looking for a hint")
        if result.interrupted:
            raise KeyboardInterrupt
        line = " ".join(result.pv)
        told = f"  (value {result.value:+.3f} for player {result.player}; expects {line})"
        self._print(Text.assemble("the engine would play ", (result.move, CHOSEN), (told, FAINT)), end="\n\n")

    def _moves(self, _: str) -> None:
        self._print(" ".join(self.position.legal_moves()), end="\n\n")

    def _board(self, _: str) -> None:
        self._draw(str(self.position))

    def _save(self, file: str) -> None:
        try:
            path = Path(file).expanduser() if file else self._file()
            self._write(path)
            self._print(f"saved in {path}\n")
        except SaveError as error:
            self._print(f"not saved: {error}\n")

    def _quit(self, _: str) -> None:
        raise EOFError

    def _help(self, _: str) -> None:
        self._print(f"{_HELP}\n")

    # Beginning and ending.

    def _greet(self) -> None:
        game, everybody = self.position.game, range(self.position.game.facts.players)
        self._print(Text.assemble((game.name, "bold"), f"  {game.summary}"))
        engines = [player for player in everybody if player not in self.people]
        you = f"You are {_players(self.people)}. " if self.people else ""
        it = f"The engine plays {_players(tuple(engines))}, {self.engine.limit} a move. " if engines else ""
        self._print(f"{you}{it}{'Type a move, or help.' if self.people else 'Ctrl-C stops.'}")
        if self.position.actions:
            self._print(f"So far: {' '.join(self.position.moves())}")
        self._draw(f"\n{self.position}")

    def _end(self) -> None:
        rewards, count = self.position.rewards, len(self.position.actions)
        who = ", ".join(f"{reward:+g} for player {player}" for player, reward in enumerate(rewards))
        last = f"; the last move was {self.position.moves()[-1]}" if count else ""
        self._print(Text.assemble("The game is over: ", (self._verdict(rewards), CHOSEN), f" ({who}) after {count} moves{last}."))
        if self._asked_file is not None:
            self._write(self._asked_file)
            self._print(f"kept in {self._asked_file}", style=FAINT)

    def _verdict(self, rewards: list[float]) -> str:
        best = [player for player, reward in enumerate(rewards) if reward == max(rewards)]
        if len(rewards) == 1:
            return "that was the last move"
        if len(best) == len(rewards):
            return "a draw"
        if len(best) > 1:
            return f"{_players(tuple(best))} win"
        if tuple(best) == self.people:
            return f"you win, as player {best[0]}"
        alone = len(self.people) == len(rewards) - 1 and best[0] not in self.people
        return f"the engine wins, as player {best[0]}" if alone else f"player {best[0]} wins"

    def _leave(self) -> None:
        """Keep the game before anything is printed: the terminal may be gone."""
        if self._asked_file is None and self.position.actions in ((), self._begun):
            self._print("\nnothing was played, nothing to keep")
            return
        path = self._file()
        try:
            self._write(path)
        except SaveError:
            again = f"treetop play {shlex.quote(self._spec)} --moves {shlex.quote(' '.join(self.position.moves()))}"
            self._draw(f"\nThe game could not be written; this goes on from here:  {again}")
            raise
        with suppress(OSError):
            self._draw(f"\nThe game is kept; go on with:  treetop play --resume {shlex.quote(str(path))}")

    @property
    def _spec(self) -> str:
        return self.position.game.source or self.position.game.name

    def _file(self) -> Path:
        """Where the game goes: what was asked for, else a file of its own that no other game has."""
        if self._asked_file is None:
            name, number = self.position.game.family, 1
            while (path := Path(f"{name}{'' if number == 1 else f'-{number}'}.game.json")).exists():
                number += 1
            self._asked_file = path
        return self._asked_file

    def _write(self, path: Path) -> None:
        told = self.settings
        save_game(path, GameRecord.of(self.position, self.people, rule=str(told.rule), c=told.c, simulations=told.simulations,
                                      seconds=told.seconds, seed=told.seed))  # fmt: skip

    def _print(self, text: str | Text, style: str | None = None, end: str = "\n") -> None:
        """Sentences: a terminal gets them wrapped between words, a pipe as they are."""
        self._screen.print(text, style=style, end=end, soft_wrap=not self._screen.is_terminal)

    def _draw(self, board: str) -> None:
        """A board or a command keeps its lines, whatever the width."""
        self._screen.print(f"{board}\n", soft_wrap=True)


def _players(players: tuple[int, ...]) -> str:
    return f"player{'s' if len(players) > 1 else ''} {' and '.join(map(str, players))}"
