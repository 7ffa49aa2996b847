"""`treetop play`: a game against the engine, in the terminal. However it ends, the game is not lost."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from treetop.arena.seeds import CHANCE as FOR_CHANCE
from treetop.arena.seeds import derive
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
    game_argument,
    hang_up_is_quitting,
    refuse_missing_folder,
    screen,
)
from treetop.cli.opponent import Engine, Settings
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, IllegalMoveError, SaveError, TreetopError
from treetop.game.definition import Game
from treetop.game.moves import choices
from treetop.game.position import Position
from treetop.game.records import GameRecord, load_game_record, save_game
from treetop.game.registry import position as position_of
from treetop.types import CHANCE, SIMULTANEOUS

_BY_LOT = ("chance_outcomes", "deal", "determinize", "apply_joint")
"""Methods of games that a person does not want to be the same each time."""
_SEEDS = 2**31
_HELP = """\
a move       play it; `moves` lists what is legal
undo         take back your last move, and the engine's answer
hint         what the engine would play in your place
moves        the legal moves
board        the position again
save FILE    write the game to a file and go on
quit         stop; the game is kept and can be resumed (so do Ctrl-C and Ctrl-D)"""

Person = Annotated[
    str | None, typer.Option("--player", metavar="0|1|none|both", help="Who you are; 0 if not given. Also a list: 0,2.")
]
Second = Annotated[bool, typer.Option("--second", help="Let the engine begin: the same as --player 1.")]
Resume = Annotated[
    Path | None,
    typer.Option("--resume", metavar="FILE", help="Go on with a saved game; name GAME too where it is your own."),
]
SaveTo = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Where to keep the game; GAME.game.json if not given.")
]


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

    The engine thinks for one second a move if nothing else is said. A game that is left is written to a file and can be resumed. Dice and
    deals come from --seed, from a new one each time if it is not given. You are shown what the player whose turn it is may see.
    """
    if second and person is not None:
        raise ConfigError("--second is --player 1: give only one of them")
    if resume is not None:
        if moves is not None:
            raise ConfigError("--resume brings its own moves: leave out --moves")
        start, people, settings, deal = _resumed(resume, game)
    elif game is None:
        raise ConfigError("which game? Give its name, or --resume a saved one")
    else:
        found = find_game(game)
        if seed is None and any(found.has(method) for method in _BY_LOT):
            seed = secrets.randbelow(_SEEDS)
        deal = (seed or 0) if found.has("deal") else None
        start, people, settings = position_of(found, moves or "", seed=deal), (0,), Settings()
    if second or person is not None:
        people = _people("1" if second else person or "", start.game)
    settings = settings.but(rule, c, seed, simulations, seconds)
    refuse_missing_folder(save)
    with hang_up_is_quitting():
        _Session(start, people, settings, save, resume, deal).run()


def _resumed(path: Path, game: str | None) -> tuple[Position, tuple[int, ...], Settings, int | None]:
    known = None if game is None else find_game(game)
    record = load_game_record(path, game=known)
    try:
        settings = Settings(record.rule, record.c, record.seed, record.simulations, record.seconds)
        Engine(settings)
    except ConfigError as error:
        raise SaveError(f"{path} is damaged: {error}") from error
    return record.position(known), record.person, settings, record.deal


def _people(text: str, game: Game) -> tuple[int, ...]:
    """The players that people play."""
    everybody = range(game.facts.players)
    words = {"none": (), "both": tuple(everybody), "all": tuple(everybody)}
    if text in words:
        return words[text]
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) in everybody for part in parts):
        raise ConfigError(
            f"--player: the players of {game.name} are {', '.join(map(str, everybody))}; or say none or both; not {text!r}"
        )
    return tuple(sorted({int(part) for part in parts}))


class _Session:
    """One game at the prompt."""

    def __init__(
        self,
        start: Position,
        people: tuple[int, ...],
        settings: Settings,
        save: Path | None,
        resumed: Path | None,
        deal: int | None,
    ) -> None:
        self.position, self.people, self.settings = start, people, settings
        self.engine = Engine(settings)
        self._deal = deal
        self._begun = start.actions
        self._secret = start.game.has("determinize") and bool(people)
        self._drawn: Position | None = None  # what stands on the screen
        self._asked = 0  # who sits at the prompt
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
                self._turn()
        except (EOFError, KeyboardInterrupt):
            self._leave()
            return
        except TreetopError:  # rules that fail in the middle of a game must not cost the game
            self._leave()
            raise
        self._end()

    def _turn(self) -> None:
        mover = self.position.player
        if mover == CHANCE:
            self._roll()
        elif mover == SIMULTANEOUS:
            self._together()
        elif mover in self.people:
            action = self._ask(mover)
            if action is not None:
                self.position = self.position.apply(action)
        else:
            action, told = self._answer(mover)
            self.position = self.position.apply(action)
            self._print(told)
            self._show()

    # Who chooses.

    def _roll(self) -> None:
        """Chance decides, by the seed and the number of the move, so that undo brings no better dice."""
        before = self.position
        outcome = before.draw_outcome(Rng(derive(self.settings.seed, FOR_CHANCE, len(before.actions))))
        self.position = before.apply(outcome)
        if not self._secret:
            self._print(Text.assemble("chance: ", (before.move_text(outcome), CHOSEN)))

    def _together(self) -> None:
        """All choose at once: the people first, and nobody knows of the others'."""
        before, chosen = self.position, {}
        for seat in self.people:
            while seat not in chosen:
                action = self._ask(seat)
                if action is not None:
                    chosen[seat] = action
                elif self.position is not before:  # taken back
                    return
        told = []
        for seat in range(before.game.facts.players):
            if seat not in chosen:
                chosen[seat], text = self._answer(seat)
                told.append(text)
        self.position = before.apply(tuple(chosen[seat] for seat in sorted(chosen)))
        for text in told:
            self._print(text)
        self._show()

    def _ask(self, seat: int) -> Any:
        """What a person plays; None where they typed something else."""
        self._asked = seat
        if self._drawn is not self.position:
            self._show()
        text = self._read(f"player {seat}, your move: ")
        if not text:
            return None
        word, _, rest = text.partition(" ")
        command = self._commands.get(word.lower())
        if command is not None:
            command(rest.strip())
            return None
        try:
            return self.position.parse_move(text, seat)
        except IllegalMoveError as error:
            self._print(str(error).partition("\n")[0])
            self._show(before="")
            return None

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

    def _answer(self, seat: int) -> tuple[Any, Text]:
        """What the engine plays, and how that is told."""
        result = self.engine.think(self.position, seat, f"player {seat} thinks")
        if result.interrupted:
            raise KeyboardInterrupt  # the search ends cleanly; here it means that the person leaves
        value = (
            "" if self._secret else f"value {result.value:+.3f} for player {seat}; "
        )  # it would tell how good its cards are
        told = f"  ({value}{result.simulations:,} simulations)"
        return result.choice, Text.assemble(
            f"\nplayer {seat}, the engine, plays ", (result.move, CHOSEN), (told, FAINT)
        )

    # Commands.

    def _undo(self, _: str) -> None:
        """Back to where a person last chose."""
        earlier = Position(self.position.game, self.position.start)
        turns = []
        for action in self.position.actions:
            if earlier.player in self.people or (earlier.player == SIMULTANEOUS and self.people):
                turns.append(earlier)
            earlier = earlier.apply(action)
        if not turns:
            self._print("there is no move of yours to take back\n")
            return
        taken = self.position.moves()[len(turns[-1].actions) :]
        self.position = turns[-1]
        self._print(
            "took back your last move, and what followed" if self._secret else f"took back {' and '.join(taken)}"
        )
        self._show()

    def _hint(self, _: str) -> None:
        result = self.engine.think(self.position, self._asked, "looking for a hint")
        if result.interrupted:
            raise KeyboardInterrupt
        line = " ".join(result.pv)
        told = f"  (value {result.value:+.3f} for player {result.player}; expects {line})"
        self._print(Text.assemble("the engine would play ", (result.move, CHOSEN), (told, FAINT)), end="\n\n")

    def _moves(self, _: str) -> None:
        numbers = choices(self.position).removeprefix("; ") if self.position.is_continuous else ""
        self._print(numbers or " ".join(self.position.legal_moves(self._asked)), end="\n\n")

    def _board(self, _: str) -> None:
        self._show(before="")

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
        if any(game.has(method) for method in _BY_LOT):
            self._print(f"Dice, deals and lots come from seed {self.settings.seed}.", style=FAINT)
        if self._secret and self.engine.config.information.name == "perfect" and engines:
            self._print("The engine is clairvoyant: it looks at what is hidden from it.")
        if self.position.actions and not self._secret:
            self._print(f"So far: {' '.join(self.position.moves())}")
        self._show()

    def _end(self) -> None:
        if self._drawn is not self.position:
            self._show()
        rewards, count = self.position.returns, len(self.position.actions)
        who = ", ".join(f"{reward:+g} for player {player}" for player, reward in enumerate(rewards))
        last = f"; the last move was {self.position.moves()[-1]}" if count and not self._secret else ""
        self._print(
            Text.assemble(
                "The game is over: ", (self._verdict(rewards), CHOSEN), f" ({who}) after {count} moves{last}."
            )
        )
        for name, value in self.position.summary().items():
            self._print(f"{name}: {value}")
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
            seed = f" --seed {self.settings.seed}" if self.settings.seed else ""
            again = (
                f"treetop play {shlex.quote(self._spec)} --moves {shlex.quote(' '.join(self.position.moves()))}{seed}"
            )
            self._draw(f"\nThe game could not be written; this goes on from here:  {again}")
            raise
        with suppress(OSError):
            self._draw(
                f"\nThe game is kept; go on with:  treetop play {game_argument(self.position.game)}--resume {shlex.quote(str(path))}"
            )

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
        save_game(
            path,
            GameRecord.of(
                self.position,
                self.people,
                rule=str(told.rule),
                c=told.c,
                simulations=told.simulations,
                seconds=told.seconds,
                seed=told.seed,
                deal=self._deal,
            ),
        )

    def _print(self, text: str | Text, style: str | None = None, end: str = "\n") -> None:
        """Sentences: a terminal gets them wrapped between words, a pipe as they are."""
        self._screen.print(text, style=style, end=end, soft_wrap=not self._screen.is_terminal)

    def _show(self, before: str = "\n") -> None:
        """The position, as the person at the prompt may see it."""
        self._drawn = self.position
        if self._secret:
            viewer = self._asked if self._asked in self.people else self.people[0]
            self._draw(f"{before}{self.position.shown_to(viewer)}")
        else:
            self._draw(f"{before}{self.position}")

    def _draw(self, board: str) -> None:
        """A board or a command keeps its lines, whatever the width."""
        self._screen.print(f"{board}\n", soft_wrap=True)


def _players(players: tuple[int, ...]) -> str:
    return f"player{'s' if len(players) > 1 else ''} {' and '.join(map(str, players))}"
