"""No text and no file chooses what is run: commands refuse it and say how to ask for it."""

from __future__ import annotations

import json

from treetop.search.saving import VERSION
from treetop.tree.files import read, write


def test_no_command_runs_what_a_text_or_a_file_names(run, tmp_path):
    spec = f"os:system(command='touch {tmp_path}/touched')"
    (tmp_path / "players.toml").write_text(f"""[players]
engine = 'uci("touch {tmp_path}/touched")'
""")
    (tmp_path / "modules.toml").write_text(f"""[players]
own = "{spec}"
""")
    run("play", "nim", "--simulations", "10", "--save", "game.json", lines=["1", "quit"])
    game = tmp_path / "game.json"
    game.write_text(json.dumps(json.loads(game.read_text()) | {"game": spec}))
    run("search", "nim", "--simulations", "10", "--save", "s.treetop")
    header, arrays = read(tmp_path / "s.treetop", "a search", VERSION)
    write(tmp_path / "s.treetop", header | {"game": spec}, arrays)
    for command, words in (
        (("search", spec), "was not made by"),
        (("play", spec), "was not made by"),
        (("solve", spec), "was not made by"),
        (("check", spec), "was not made by"),
        (("match", "random", "random", "--game", spec), "was not made by"),
        (("match", spec, "random", "--game", "nim"), "was not made by"),
        (
            ("match", f"touch {tmp_path}/touched", "random", "--game", "nim", "--make-player", "os:system"),
            "was not made by",
        ),
        (("match", "engine", "random", "--game", "nim", "--players", "players.toml"), "--trust-players"),
        (("evaluate", "sailing", "--player", "own", "--players", "modules.toml"), "--trust-players"),
        (
            ("match", "own", "random", "--game", "nim", "--players", "modules.toml", "--trust-players"),
            "was not made by",
        ),
        (("play", "--resume", "game.json"), "treetop play GAME --resume"),
        (("search", "--load", "s.treetop"), "treetop search GAME --load"),
    ):
        ended = run(*command)
        assert ended.code == 2, command
        assert words in ended.err, command
    assert not (tmp_path / "touched").exists()


def test_a_search_of_ones_own_game_goes_on_when_the_game_is_named_again(run, tmp_path):
    (tmp_path / "mine.py").write_text("import treetop\nfrom treetop.games.nim import nim\nmine = nim(stones=7)\n")
    saved = run("search", "mine.py:mine", "--simulations", "10", "--save", "s.treetop")
    assert "continue with:  treetop search mine.py:mine --load s.treetop" in saved.err
    assert run("search", "mine.py:mine", "--load", "s.treetop", "--simulations", "10").code == 0
    assert run("search", "--load", "s.treetop", "--simulations", "10").code == 2
