"""`treetop analyze`: the analysis protocol on stdin and stdout."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from treetop import checks
from treetop.cli.common import MaybeGameName, RuleName, find_game
from treetop.cli.engines import conversation
from treetop.errors import ConfigError

Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Queries that are searched at the same time.")]
ModelFolder = Annotated[
    str | None,
    typer.Option("--model", metavar="FOLDER", help="Evaluate by a trained network: the folder of a run, or bundled."),
]


def analyze(game: MaybeGameName = None, rule: RuleName = None, model: ModelFolder = None, threads: Threads = 1) -> None:
    """Answer queries about positions: a line of JSON each on stdin, answers as lines of JSON on stdout.

    A query is {"id": "a", "game": "connect_four", "moves": ["4", "4"], "maxVisits": 1000}; docs/analysis.md has all
    fields. GAME is the game of queries that name none. The command ends with its input, when all queries are answered.
    """
    from treetop.serve.analysis import Analyzer, as_line, lines_of

    checks.whole("--threads", threads, 1, 1024)
    if sys.stdin is None or sys.stdout is None:
        raise ConfigError("treetop analyze reads stdin and writes to stdout: one of them is closed")
    found = None if game is None else find_game(game)
    evaluator: Any = None
    if model is not None:
        from treetop.evaluators.networks.model import load_model

        evaluator = load_model(model, game=found)
        found, rule = evaluator.game, rule or "puct(c=1.5, batch_size=8)"

    with conversation() as output:

        def send(answer: dict[str, Any]) -> None:
            output.write(as_line(answer) + "\n")

        with Analyzer(send, game=found, rule=rule, evaluator=evaluator, threads=threads) as analyzer:
            for line in lines_of(sys.stdin.buffer):
                if line.strip():
                    analyzer.receive(line)
            analyzer.wait()
