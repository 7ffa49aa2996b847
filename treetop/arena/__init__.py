"""Play games and measure players: matches, tournaments, evaluations, Elo with intervals, sequential tests (SPRT).

>>> import treetop as tt
>>> from treetop.arena import *
>>> steps = []
>>> def show(progress: MatchProgress) -> None: steps.append(progress.finished)
>>> result = tt.match("random", "random", "tic_tac_toe", games=4, seed=1, workers=1, progress=show)
>>> isinstance(result, MatchResult) and isinstance(result.rating, Rating)
True
>>> isinstance(tt.evaluate("nim(stones=5)", "random", games=4, workers=1), EvaluationResult)
True
>>> def show_all(progress: TournamentProgress) -> None: steps.append(progress.finished)
>>> both = tt.tournament(["random", "greedy"], "tic_tac_toe", games=2, workers=1, progress=show_all)
>>> isinstance(both, TournamentResult)
True
>>> [verdict.name for verdict in SprtVerdict]                # doctest: +ELLIPSIS
[...]
>>> issubclass(MatchError, tt.TreetopError)
True
>>> OpeningSettings(plies=2).balanced
True
>>> isinstance(read_book(["a1", "b2"], tt.load_game("tic_tac_toe")), Book)
True

Public names are imported on first use: playing games starts processes and locks files.
"""

from typing import TYPE_CHECKING

from treetop.lazy import exports

if TYPE_CHECKING:
    from treetop.arena.books import Book as Book
    from treetop.arena.books import read_book as read_book
    from treetop.arena.converting import convert as convert
    from treetop.arena.converting import read_games as read_games
    from treetop.arena.elo import Rating as Rating
    from treetop.arena.elo import elo_of as elo_of
    from treetop.arena.elo import rate as rate
    from treetop.arena.elo import score_of as score_of
    from treetop.arena.evaluation import evaluate as evaluate
    from treetop.arena.ladders import LadderResult as LadderResult
    from treetop.arena.ladders import ladder as ladder
    from treetop.arena.matches import MatchError as MatchError
    from treetop.arena.matches import MatchProgress as MatchProgress
    from treetop.arena.matches import match as match
    from treetop.arena.matches import match_many as match_many
    from treetop.arena.openings import Openings as Openings
    from treetop.arena.openings import OpeningSettings as OpeningSettings
    from treetop.arena.positions import SuiteResult as SuiteResult
    from treetop.arena.positions import SuiteRow as SuiteRow
    from treetop.arena.positions import solve_suite as solve_suite
    from treetop.arena.result import MatchResult as MatchResult
    from treetop.arena.scores import EvaluationResult as EvaluationResult
    from treetop.arena.sprt import Sprt as Sprt
    from treetop.arena.sprt import SprtVerdict as SprtVerdict
    from treetop.arena.tournaments import TournamentProgress as TournamentProgress
    from treetop.arena.tournaments import TournamentResult as TournamentResult
    from treetop.arena.tournaments import tournament as tournament

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "books": "Book read_book",
        "converting": "convert read_games",
        "elo": "Rating elo_of rate score_of",
        "evaluation": "evaluate",
        "ladders": "LadderResult ladder",
        "matches": "MatchError MatchProgress match match_many",
        "openings": "Openings OpeningSettings",
        "positions": "SuiteResult SuiteRow solve_suite",
        "result": "MatchResult",
        "scores": "EvaluationResult",
        "sprt": "Sprt SprtVerdict",
        "tournaments": "TournamentProgress TournamentResult tournament",
    },
)
