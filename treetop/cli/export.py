"""`treetop export`: write a trained network as an ONNX model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treetop.cli.common import find_game, say
from treetop.files import replacing

Run = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of a run.")]
Target = Annotated[Path, typer.Argument(metavar="FILE.onnx", help="The file to write.")]
Rules = Annotated[str | None, typer.Option("--game", metavar="GAME", help="The game, if it is not a bundled one.")]


def export(folder: Run, file: Target, game: Rules = None) -> None:
    """Write a trained network as an ONNX model: observations to logits and values."""
    from treetop.evaluators.networks.model import load_model

    model = load_model(folder, game=None if game is None else find_game(game))
    content = model.to_onnx()
    with replacing(file) as target:
        target.write(content)
    shape = model.architecture
    say(f"{file}: {len(content):,} bytes; observations {shape.observation}, {shape.actions} actions")
