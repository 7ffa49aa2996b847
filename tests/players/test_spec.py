"""Players by name: what a text may say, and what is said of a text that is wrong."""

from __future__ import annotations

import pytest

import treetop
from treetop.players.baselines import RandomPlayer
from treetop.players.protocol import Player
from treetop.players.spec import Spec, make_player, parse_spec, player_names
from treetop.search.presets import PRESETS

NIM = treetop.load_game("nim")


@pytest.mark.parametrize(("text", "spec"), [
    ("random", Spec("random")),
    (" random() ", Spec("random")),
    ("uct(c=1.4, simulations=1000)", Spec("uct", {"c": 1.4, "simulations": 1000})),
    ("puct(evaluator='rollout(count=2)', reuse=False)", Spec("puct", {"evaluator": "rollout(count=2)", "reuse": False})),
    ('uci("engine --flag", options={"Skill Level": -20})', Spec("uci", {"options": {"Skill Level": -20}}, ("engine --flag",))),
    ("my_module:make", Spec("my_module:make")),
    ("folder/file.py:make(level=3)", Spec("folder/file.py:make", {"level": 3})),
    ("uct(name='a:b(c)')", Spec("uct", {"name": "a:b(c)"})),
])  # fmt: skip
def test_a_text_is_read_as_name_and_options(text, spec):
    assert parse_spec(text) == spec


@pytest.mark.parametrize("text", ["uct(c=1.4, simulations=1000)", "random", "uci('fairy-stockfish', nodes=5)"])
def test_a_spec_prints_as_the_text_that_names_it(text):
    assert str(parse_spec(text)) == text


@pytest.mark.parametrize("text", ["", "3", "uct(", "a.b()", "uct + 1", "uct(c=1)(2)", "[random]"])
def test_a_text_that_is_no_spec_is_refused(text):
    with pytest.raises(treetop.errors.ConfigError, match="does not name a player"):
        parse_spec(text)


@pytest.mark.parametrize(
    "text", ["uct(c=__import__('os').getcwd())", "uct(c=2 ** 9)", "uct(c=x)", "uct(**{'c': 1})", "uct(*[1])"]
)
def test_nothing_is_ever_executed(text):
    with pytest.raises(treetop.errors.ConfigError):
        make_player(text, NIM)


def test_a_spec_inside_a_spec_needs_no_quotes():
    assert parse_spec("uct(evaluator=rollout(count=2))").options == {"evaluator": "rollout(count=2)"}
    assert make_player("uct(evaluator=rollout(count=2))", NIM).evaluator.count == 2


@pytest.mark.parametrize("name", ["random", "greedy", "alphabeta", "uct", "puct"])
def test_every_player_plays_by_its_name(name):
    position = treetop.position("tic_tac_toe")
    player = make_player(name, position.game)
    assert isinstance(player, Player)
    assert player.name == name
    player.begin(position, 1)
    assert player.choose(position) in position.legal_actions()
    player.close()


def test_the_name_of_a_player_is_its_spec_unless_it_says_another():
    assert make_player("uct(c=1.4,simulations=5)", NIM).name == "uct(c=1.4, simulations=5)"
    assert make_player("uct(simulations=5, name='fast')", NIM).name == "fast"
    assert make_player("random(name='chance')", NIM).name == "chance"
    with pytest.raises(treetop.errors.ConfigError, match="name must be a string"):
        make_player("random(name=3)", NIM)


def test_options_of_a_search_reach_its_settings():
    player = make_player("uct(c=0.7, final='value', seconds=0.5, nodes=99, reuse=False)", NIM)
    assert player.config == treetop.uct(0.7, final="value")
    assert player.limit == treetop.Limit(seconds=0.5, nodes=99)
    assert player.reuse is False
    assert make_player("puct", NIM).config == treetop.puct()
    assert make_player("uct", NIM).limit == treetop.Limit(simulations=1000)
    assert type(make_player("uct(evaluator='uniform')", NIM).evaluator) is treetop.evaluators.Uniform


@pytest.mark.parametrize(("spec", "texts"), [
    ("rando", ["no player called 'rando'", "did you mean random?", "alphabeta", "uct", "module:function"]),
    ("uct(simulation=5)", ["uct has no option 'simulation'", "did you mean simulations?", "its options are", "max_depth", "seconds"]),
    ("uct(rule='puct')", ["uct(rule='puct') contradicts what uct means", "rule"]),
    ("alphabeta(dept=2)", ["alphabeta has no option 'dept'", "did you mean depth?", "rollouts"]),
    ("random(depth=2)", ["random has no option 'depth'", "its options are name"]),
    ("alphabeta(4)", ["4 has no name", "option=4"]),
    ("uct(1.4)", ["1.4 has no name"]),
    ("uct(c=-1)", ["c must be a number of at least 0"]),
    ("uct(c_base=3)", ["c_base"]),
    ("uct(simulations=0)", ["simulations must be a whole number"]),
    ("uct(reuse=1)", ["reuse must be True or False"]),
    ("uct(evaluator='rolout')", ["rolout", "rollout"]),
    ("uct(evaluator=3)", ["evaluator must be a string"]),
    ("uct(evaluator='heuristic')", ["heuristic", "lacks"]),
    ("uct(max_nodes=3)", ["max_nodes must be at least"]),
    ("alphabeta(depth='deep')", ["depth must be a whole number"]),
])  # fmt: skip
def test_what_is_wrong_is_reported_with_what_would_be_right(spec, texts):
    with pytest.raises(treetop.errors.ConfigError) as reported:
        make_player(spec, NIM)
    for text in texts:
        assert text in str(reported.value)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_preset_is_a_player(preset):
    player = make_player(
        f"{preset}(simulations=7)", treetop.load_game("kuhn_poker") if preset == "regret_matching" else NIM
    )
    assert player.config == PRESETS[preset]().for_play()
    assert player.limit == treetop.Limit(simulations=7)


def test_all_names_can_be_listed():
    assert {"random", "greedy", "alphabeta", "uct", "puct"} <= set(player_names())
    assert player_names() == sorted(set(player_names()))


def test_ones_own_player_is_a_function_of_the_game(tmp_path):
    file = tmp_path / "own_player.py"
    file.write_text(
        "import treetop\nfrom treetop.players.baselines import RandomPlayer\n"
        "@treetop.player\ndef make(game, level=1):\n    return RandomPlayer(f'{game.family} at level {level}')\n"
        "@treetop.player\ndef wrong(game):\n    return 3\n"
        "def unmarked(game):\n    raise SystemExit('called')\n"
    )
    player = make_player(f"{file}:make(level=7)", NIM)
    assert isinstance(player, RandomPlayer)
    assert player.name == "nim at level 7"
    with pytest.raises(treetop.errors.ConfigError, match="must return a player"):
        make_player(f"{file}:wrong", NIM)
    with pytest.raises(treetop.errors.ConfigError, match="no 'mak'; @treetop.player objects there: make, wrong"):
        make_player(f"{file}:mak", NIM)
    with pytest.raises(treetop.errors.ConfigError, match="unexpected keyword argument 'depth'"):
        make_player(f"{file}:make(depth=7)", NIM)

    with pytest.raises(treetop.errors.ConfigError, match="unmarked was not made by @treetop.player"):
        make_player(f"{file}:unmarked", NIM)


@pytest.mark.parametrize(
    "spec",
    [
        "os:system",
        "os:_exit(3)",
        "builtins:print",
        "subprocess:Popen(['true'])",
        "treetop.players.spec:make_player",
        "treetop.games.nim:nim",
    ],
)
def test_a_text_calls_no_function_without_the_mark(spec):
    with pytest.raises(treetop.errors.ConfigError, match="was not made by @treetop.player"):
        make_player(spec, NIM)


def test_a_module_that_is_not_there_is_reported():
    with pytest.raises(treetop.errors.ConfigError, match="cannot be imported"):
        make_player("no_such_module_at_all:make", NIM)
    with pytest.raises(treetop.errors.ConfigError, match="no file"):
        make_player("no/such/file.py:make", NIM)


def test_a_player_has_no_gumbel_noise_unless_it_is_asked_for():
    assert make_player("gumbel(simulations=8)", NIM).config.root.gumbel_scale == 0.0
    assert make_player("gumbel(simulations=8, gumbel_scale=0.5)", NIM).config.root.gumbel_scale == 0.5
    assert make_player("gumbel(simulations=8, gumbel_scale=1.0)", NIM).config.root.gumbel_scale == 1.0
    assert make_player("uct(simulations=8)", NIM).config == treetop.uct()
    assert treetop.gumbel().root.gumbel_scale is None


def test_a_player_may_search_by_several_threads():
    player = make_player("uct(simulations=50, threads=2, deterministic=True)", NIM)
    assert (player.threads, player.deterministic) == (2, True)
    with pytest.raises(treetop.errors.ConfigError, match="threads must be"):
        make_player("uct(threads=0)", NIM)
    with pytest.raises(treetop.errors.ConfigError, match="transpositions need one thread"):
        make_player("uct(threads=2, transpositions=True)", NIM)
