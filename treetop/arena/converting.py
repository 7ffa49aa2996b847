"""Convert games between files: those of a match, saved games, PGN and SGF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from treetop.arena.log import EVALUATION, read_match
from treetop.arena.openings import start_of
from treetop.arena.playing import LETTERS
from treetop.checks import is_whole
from treetop.errors import ConfigError, SaveError, TreetopError
from treetop.game.definition import Game
from treetop.game.notation.pgn import read_pgn
from treetop.game.notation.pgn_writing import write_pgn
from treetop.game.notation.recorded import DRAW, LOSS, WIN, RecordedGame, require_recordable, result_of
from treetop.game.notation.sgf import read_sgf
from treetop.game.notation.sgf_writing import write_sgf
from treetop.game.records import GameRecord, load_game_record, save_game
from treetop.game.registry import load_bundled, load_game
from treetop.journal import Record

READ = (".jsonl", ".json", ".pgn", ".sgf")
"""The endings of files that are read: of a match, of a game that `treetop play` saved, PGN, SGF."""
WRITTEN = (".pgn", ".sgf", ".json")
"""The endings of files that are written."""


def read_games(
    path: str | Path, *, game: str | Game | None = None, skipped: list[SaveError] | None = None
) -> Iterator[RecordedGame]:
    """Yield the games of a file by its ending: of a match, of a saved game, in PGN or in SGF.

    A game that is not bundled must be passed. A wrong game raises a `SaveError`, or is appended to `skipped`.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "match.jsonl"
    ...     _ = tt.match("random", "greedy", "connect_four", games=2, seed=1, workers=1, out=file)
    ...     [first, second] = read_games(file)
    >>> first.players, second.players
    (('random', 'greedy'), ('greedy', 'random'))
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in READ:
        raise ConfigError(f"{path}: games are read from files that end with {', '.join(READ)}")
    if kind == ".pgn":
        return read_pgn(path, game=game, skipped=skipped)
    if kind == ".sgf":
        return read_sgf(path, game=game, skipped=skipped)
    return _of_a_match(path, game, skipped) if kind == ".jsonl" else _saved(path, game)


def convert(
    source: str | Path,
    target: str | Path,
    *,
    game: str | Game | None = None,
    number: int | None = None,
    skipped: list[SaveError] | None = None,
) -> int:
    """Write the games of one file to another, and return how many there are. Both formats are named by the endings.

    `number` takes one game, the first being 1. A .json file holds one game, which `treetop play --resume` goes on with.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     a, b = Path(folder) / "a.pgn", Path(folder) / "b.json"
    ...     tt.records.write_pgn(a, [tt.position("chess", moves="e4 e5")])
    ...     convert(a, b)
    1
    """
    source, target = Path(source), Path(target)
    kind = target.suffix.lower()
    if kind not in WRITTEN:
        raise ConfigError(f"{target}: games are written to files that end with {', '.join(WRITTEN)}")
    games = list(read_games(source, game=game, skipped=skipped))
    if number is not None:
        if not is_whole(number) or not 1 <= number <= len(games):
            raise ConfigError(f"{source} has {len(games):,} games: the number must be from 1 to that, not {number!r}")
        games = [games[number - 1]]
    if not games:
        raise SaveError(f"{source} has no game to write")
    if kind == ".json":
        _save(target, games)
    else:
        (write_pgn if kind == ".pgn" else write_sgf)(target, games)
    return len(games)


def _save(target: Path, games: Sequence[RecordedGame]) -> None:
    if len(games) > 1:
        raise ConfigError(f"{target} holds one game, and there are {len(games):,}: name one by its number")
    end = games[0].end
    if end.was_set_up:
        raise ConfigError(f"{target} holds games from the start, and this one was set up: write .pgn or .sgf")
    save_game(target, GameRecord.of(end, person=(0,)))


def _saved(path: Path, game: str | Game | None) -> Iterator[RecordedGame]:
    record = load_game_record(path, game=game)
    end = record.position(game)
    require_recordable(end.game)
    names = ["person" if seat in record.person else f"Treetop, {record.rule}" for seat in range(2)]
    yield RecordedGame(end, (names[0], names[1]), source=str(path))


def _of_a_match(path: Path, game: str | Game | None, skipped: list[SaveError] | None) -> Iterator[RecordedGame]:
    header, records = read_match(path)
    names = header.get("names")
    if header["kind"] == EVALUATION.name or not isinstance(names, list) or len(names) != 2:
        raise SaveError(f"{path} is {header['kind']}: PGN and SGF hold games of two players, as of a match")
    if not isinstance(header.get("game"), str) or not is_whole(header.get("seed")):
        raise SaveError(f"{path} is damaged: its header has no game and seed")
    try:
        known = load_bundled(header["game"]) if game is None else load_game(game)
    except TreetopError as error:
        raise SaveError(f"{path}: the game must be passed, as game=... or --game ({error})") from None
    if header.get("rules") != known.digest:
        raise SaveError(f"{path} was played by other rules of {header['game']} than those of {known.name}")
    require_recordable(known)
    for record in records:
        try:
            yield _game_of(path, header, record, known)
        except SaveError as error:
            if skipped is None:
                raise
            skipped.append(error)


def _game_of(path: Path, header: Record, record: Record, game: Game) -> RecordedGame:
    where = f"{path}: game {record['index']}"
    actions: Any = record.get("actions")
    if not isinstance(actions, list):
        raise SaveError(f"{where}: it has no actions")
    position = start_of(game, header["seed"], record["pair"])
    for action in (*record["opening"], *actions):
        try:
            position = position.apply(action)
        except TreetopError as error:
            raise SaveError(f"{where}: {str(error).splitlines()[0]}") from None
    first = LETTERS.index(record["seats"][0])
    score = record["score"] if first == 0 else 1 - record["score"]
    result = WIN if score == 1 else LOSS if score == 0 else DRAW
    if position.is_terminal and result_of(position) != result:
        raise SaveError(f"{where}: its score is {result}, by the rules it is {result_of(position)}")
    tags = {"Event": "A match by Treetop", "Round": f"{record['pair'] + 1}.{record['index'] % 2 + 1}"}
    if isinstance(record.get("reason"), str):
        tags["Termination"] = f"forfeit: {record['reason'][:200]}"
    players = str(header["names"][first]), str(header["names"][1 - first])
    return RecordedGame(position, players, result, tags, source=where)
