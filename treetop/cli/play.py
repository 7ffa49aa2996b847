"""`treetop play`: play against the engine in the terminal. An unfinished game is saved, whatever ends it."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    Threads,
    find_game,
    game_argument,
    hangup_as_interrupt,
    naming_recommended,
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

if TYPE_CHECKING:
    from treetop.evaluators.networks.model import Model

_RANDOM = ("chance_outcomes", "deal", "determinize", "apply_joint")
"""Methods of games with randomness, which get a new seed in each game."""
_SEEDS = 2**31
_WITH_MODEL = "puct(fpu='parent', batch_size=8)"
"""The rule beside a network, if none is given."""
_HELP = """\
a move       play it
undo         take back your last move and the engine's answer
hint         show what the engine would play
moves        list the legal moves
board        show the position again
save FILE    write the game to a file and continue
quit         stop; the game is saved and can be resumed (also Ctrl-C and Ctrl-D)"""

Person = Annotated[
    str | None,
    typer.Option("--player", metavar="0|1|none|both", help="The players you control: 0, 1, 0,2. Default: 0."),
]
Second = Annotated[bool, typer.Option("--second", help="The engine moves first: the same as --player 1.")]
Resume = Annotated[
    Path | None,
    typer.Option("--resume", metavar="FILE", help="Continue a saved game; name GAME too if it is not bundled."),
]
ModelFolder = Annotated[
    str | None,
    typer.Option("--model", metavar="FOLDER", help="Play by a trained network: the folder of a run, or bundled."),
]
SaveTo = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="The file for the game. Default: GAME.game.json.")
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
    threads: Threads = 1,
    model: ModelFolder = None,
    seed: MaybeSeed = None,
    resume: Resume = None,
    save: SaveTo = None,
) -> None:
    """Play against the engine. Type a move, or help.

    The engine thinks for one second a move by default, with the rule that is recommended for the game. An unfinished
    game is written to a file and can be resumed. Dice and deals come from --seed, which is random by default. You see
    only what the player to move is allowed to see.
    """
    from treetop.players.rules import recommended_rule

    if second and person is not None:
        raise ConfigError("--second means --player 1: give only one of them")
    if resume is not None:
        if moves is not None:
            raise ConfigError("--resume takes the moves from the file: remove --moves")
        start, people, settings, deal = _resumed(resume, game)
    elif game is None:
        raise ConfigError("no game: give the name of a game, or --resume FILE")
    else:
        found = find_game(game)
        if seed is None and any(found.has(method) for method in _RANDOM):
            seed = secrets.randbelow(_SEEDS)
        deal = (seed or 0) if found.has("deal") else None
        start, people = position_of(found, moves or "", seed=deal), (0,)
        rule = _WITH_MODEL if model is not None and rule is None else rule
        recommended = recommended_rule(found, rule, c=c)
        settings = Settings(recommended or "uct")
        with naming_recommended(recommended):
            Engine(settings.but(rule, c, seed, simulations, seconds, threads))
    if second or person is not None:
        people = _people("1" if second else person or "", start.game)
    settings = settings.but(rule, c, seed, simulations, seconds, threads)
    refuse_missing_folder(save)
    with hangup_as_interrupt():
        _Session(start, people, settings, save, resume, deal, _network(model, start.game)).run()


def _network(folder: str | None, game: Game) -> Model | None:
    """Return the network that plays, if one was given."""
    from treetop.evaluators.networks.model import load_model

    return None if folder is None else load_model(folder, game=game)


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
    """Return the players that people control."""
    everybody = range(game.facts.players)
    words = {"none": (), "both": tuple(everybody), "all": tuple(everybody)}
    if text in words:
        return words[text]
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) in everybody for part in parts):
        raise ConfigError(
            f"--player must be none, both or players of {game.name} ({', '.join(map(str, everybody))}), not {text!r}"
        )
    return tuple(sorted({int(part) for part in parts}))


class _Session:
    """One interactive game."""

    def __init__(
        self,
        start: Position,
        people: tuple[int, ...],
        settings: Settings,
        save: Path | None,
        resumed: Path | None,
        deal: int | None,
        model: Model | None,
    ) -> None:
        self.position, self.people, self.settings = start, people, settings
        self.engine = Engine(settings, model)
        self._deal = deal
        self._before = start.actions
        self._secret = start.game.has("determinize") and bool(people)
        self._drawn: Position | None = None  # the position that was shown last
        self._asked = 0  # the player at the prompt
        self._path = save or resumed
        self._screen = screen()
        self._commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo, "hint": self._hint, "moves": self._moves, "board": self._board, "save": self._save,
            "quit": self._quit, "exit": self._quit, "help": self._help,
        }  # fmt: skip

    def run(self) -> None:
        """Play until the game is over or the person quits."""
        self._greet()
        try:
            while not self.position.is_terminal:
                self._turn()
        except (EOFError, KeyboardInterrupt):
            self._leave()
            return
        except TreetopError:  # save the game even if its rules fail
            self._leave()
            raise
        self._end()

    def _turn(self) -> None:
        mover = self.position.player
        if mover == CHANCE:
            self._roll()
        elif mover == SIMULTANEOUS:
            self._joint_move()
        elif mover in self.people:
            action = self._ask(mover)
            if action is not None:
                self.position = self.position.apply(action)
        else:
            action, text = self._answer(mover)
            self.position = self.position.apply(action)
            self._print(text)
            self._show()

    # Moves.

    def _roll(self) -> None:
        """Resolve chance by the seed and the number of the move, so that undo does not change the outcome."""
        before = self.position
        outcome = before.draw_outcome(Rng(derive(self.settings.seed, FOR_CHANCE, len(before.actions))))
        self.position = before.apply(outcome)
        if not self._secret:
            self._print(Text.assemble("chance: ", (before.move_text(outcome), CHOSEN)))

    def _joint_move(self) -> None:
        """Play simultaneous moves: ask the people first, then the engine, which does not see their moves."""
        before, chosen = self.position, {}
        for seat in self.people:
            while seat not in chosen:
                action = self._ask(seat)
                if action is not None:
                    chosen[seat] = action
                elif self.position is not before:  # a move was taken back
                    return
        texts = []
        for seat in range(before.game.facts.players):
            if seat not in chosen:
                chosen[seat], text = self._answer(seat)
                texts.append(text)
        self.position = before.apply(tuple(chosen[seat] for seat in sorted(chosen)))
        for text in texts:
            self._print(text)
        self._show()

    def _ask(self, seat: int) -> Any:
        """Ask a person for a move and return it; return None after a command or an illegal move."""
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
            with suppress(ImportError):  # arrow keys and history, if the system has them
                import readline  # noqa: F401
            return input(prompt).strip()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        self._print(f"{prompt}{line.strip()}")  # the input is not on the screen, so print it too
        return line.strip()

    def _answer(self, seat: int) -> tuple[Any, Text]:
        """Return the engine's move, and its description."""
        result = self.engine.think(self.position, seat, f"player {seat} thinks")
        if result.interrupted:
            raise KeyboardInterrupt  # the search ends normally after Ctrl-C; here it means that the person quits
        # With imperfect information, the value would reveal how good the engine's cards are.
        value = "" if self._secret else f"value {result.value:+.3f} for player {seat}; "
        note = f"  ({value}{result.simulations:,} simulations)"
        return result.choice, Text.assemble(
            f"\nplayer {seat}, the engine, plays ", (result.move, CHOSEN), (note, FAINT)
        )

    # Commands.

    def _undo(self, _: str) -> None:
        """Go back to the last choice of a person."""
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
        note = f"  (value {result.value:+.3f} for player {result.player}; expects {line})"
        self._print(Text.assemble("the engine would play ", (result.move, CHOSEN), (note, FAINT)), end="\n\n")

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

    # Start and end.

    def _greet(self) -> None:
        from treetop.players.rules import recommended_rule

        game, everybody = self.position.game, range(self.position.game.facts.players)
        self._print(Text.assemble((game.name, "bold"), f"  {game.summary}"))
        engines = [player for player in everybody if player not in self.people]
        you = f"You are {_players(self.people)}. " if self.people else ""
        it = f"The engine plays {_players(tuple(engines))}, {self.engine.limit} a move. " if engines else ""
        self._print(f"{you}{it}{'Type a move, or help.' if self.people else 'Ctrl-C stops.'}")
        if engines and self.settings.rule != "uct":
            recommended = " (recommended for this game)" if self.settings.rule == recommended_rule(game, None) else ""
            self._print(f"The engine's rule is {self.settings.rule}{recommended}.", style=FAINT)
        if any(game.has(method) for method in _RANDOM):
            self._print(f"Random numbers come from seed {self.settings.seed}.", style=FAINT)
        if self._secret and self.engine.config.information.name == "perfect" and engines:
            self._print("The engine searches with perfect information: it uses what is hidden from it.")
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
        if self._path is not None:
            self._write(self._path)
            self._print(f"saved in {self._path}", style=FAINT)

    def _verdict(self, rewards: list[float]) -> str:
        best = [player for player, reward in enumerate(rewards) if reward == max(rewards)]
        if len(rewards) == 1:
            return "it was the last move"
        if len(best) == len(rewards):
            return "a draw"
        if len(best) > 1:
            return f"{_players(tuple(best))} win"
        if tuple(best) == self.people:
            return f"you win, as player {best[0]}"
        alone = len(self.people) == len(rewards) - 1 and best[0] not in self.people
        return f"the engine wins, as player {best[0]}" if alone else f"player {best[0]} wins"

    def _leave(self) -> None:
        """Save the game before anything is printed: the terminal may be closed."""
        if self._path is None and self.position.actions in ((), self._before):
            self._print("\nno move was played, so nothing is saved")
            return
        path = self._file()
        try:
            self._write(path)
        except SaveError:
            seed = f" --seed {self.settings.seed}" if self.settings.seed else ""
            again = (
                f"treetop play {shlex.quote(self._spec)} --moves {shlex.quote(' '.join(self.position.moves()))}{seed}"
            )
            self._draw(f"\nThe game could not be saved; continue with:  {again}")
            raise
        with suppress(OSError):
            command = f"treetop play {game_argument(self.position.game)}--resume {shlex.quote(str(path))}"
            self._draw(f"\nThe game is saved; continue with:  {command}")

    @property
    def _spec(self) -> str:
        return self.position.game.source or self.position.game.name

    def _file(self) -> Path:
        """Return the path of the game's file: the one that was given, or a new one."""
        if self._path is None:
            name, number = self.position.game.family, 1
            while (path := Path(f"{name}{'' if number == 1 else f'-{number}'}.game.json")).exists():
                number += 1
            self._path = path
        return self._path

    def _write(self, path: Path) -> None:
        settings = self.settings
        save_game(
            path,
            GameRecord.of(
                self.position,
                self.people,
                rule=str(settings.rule),
                c=settings.c,
                simulations=settings.simulations,
                seconds=settings.seconds,
                seed=settings.seed,
                deal=self._deal,
            ),
        )

    def _print(self, text: str | Text, style: str | None = None, end: str = "\n") -> None:
        """Print a text; on a terminal, wrapped between words."""
        self._screen.print(text, style=style, end=end, soft_wrap=not self._screen.is_terminal)

    def _show(self, before: str = "\n") -> None:
        """Show the position as the person at the prompt may see it."""
        self._drawn = self.position
        if self._secret:
            viewer = self._asked if self._asked in self.people else self.people[0]
            self._draw(f"{before}{self.position.shown_to(viewer)}")
        else:
            self._draw(f"{before}{self.position}")

    def _draw(self, board: str) -> None:
        """Print a board or a command without wrapping."""
        self._screen.print(f"{board}\n", soft_wrap=True)


def _players(players: tuple[int, ...]) -> str:
    return f"player{'s' if len(players) > 1 else ''} {' and '.join(map(str, players))}"
