"""OpenSpiel's games, searched; and Treetop among OpenSpiel's bots."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.adapters import OpenSpielProblem, TreetopBot
from treetop.errors import ConfigError, PlayerError, UnknownGameError

pyspiel = pytest.importorskip("pyspiel")


def state_of(game, *actions):
    state = pyspiel.load_game(game).new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def run(problem, simulations=1000, config=None, **options):
    return tt.Search(problem, config, seed=1, **options).run(tt.Limit(simulations=simulations))


def test_tic_tac_toe_is_proven_a_draw():
    result = run(OpenSpielProblem("tic_tac_toe"), 20_000, tt.uct(solver=True))
    assert result.solved
    assert result.value == 0.0


@pytest.mark.parametrize(("actions", "best"), [((3, 0, 3, 0, 3), 3), ((2, 0, 3, 0), None)])
def test_connect_four_blocks_and_wins(actions, best):
    state = state_of("connect_four", *actions)
    result = run(OpenSpielProblem(state), 2000, tt.uct(solver=True))
    assert result.action == best if best is not None else result.action in (1, 4)
    assert state.history() == list(actions)


def test_a_state_is_searched_for_its_own_player():
    state = state_of("tic_tac_toe", 0, 8, 1, 7)  # both have two in a row: whoever moves wins
    result = run(OpenSpielProblem(state), 500, tt.uct(solver=True))
    assert (result.player, result.action, result.value) == (0, 2, 1.0)


def exact_values(state, depth=0):
    """Expectiminimax over pyspiel's own states."""
    if state.is_terminal():
        return state.returns()
    if state.is_chance_node():
        parts = [(probability, exact_values(state.child(action))) for action, probability in state.chance_outcomes()]
        return [
            sum(probability * values[player] for probability, values in parts) for player in range(state.num_players())
        ]
    return max(
        (exact_values(state.child(action)) for action in state.legal_actions()),
        key=lambda values: values[state.current_player()],
    )


def test_chance_is_searched_by_its_exact_outcomes():
    """Pig to 4 with a die of 3: small enough to be searched through by hand."""
    state = state_of("pig(winscore=4,diceoutcomes=3,horizon=12)")
    expected = exact_values(state)
    result = run(OpenSpielProblem(state), 30_000)
    best = max(state.legal_actions(), key=lambda action: exact_values(state.child(action))[0])
    assert result.action == best
    assert result.value == pytest.approx(expected[0], abs=0.06)


def test_immediate_rewards_are_counted_once():
    problem = OpenSpielProblem("2048")
    state = state_of("2048", *[pyspiel.load_game("2048").new_initial_state().legal_actions()[0]])
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    result = run(OpenSpielProblem(state), 40)
    assert problem.step_rewards
    assert 200 < result.value < 20_000


def test_a_hidden_card_is_not_seen():
    """With the queen the other has the jack or the king: whichever it is in truth, the search is the same."""
    results = [run(OpenSpielProblem(state_of("kuhn_poker", 1, other), seed=3), 500) for other in (0, 2)]
    assert results[0].visits == results[1].visits
    assert results[0].values == results[1].values
    assert [str(result.state) for result in results] == ["1", "1"]


def test_what_is_known_is_used():
    """With the king a bet of the other is called; with the jack it is not."""
    for card, called in ((2, 1), (0, 0)):
        other = 1
        state = state_of("kuhn_poker", other, card, 1)
        assert run(OpenSpielProblem(state), 500).action == called


def test_states_are_drawn_as_often_as_they_are_likely():
    problem = OpenSpielProblem(state_of("kuhn_poker", 1, 0), worlds=2000)
    after = problem.step(problem.initial(), 0)
    shares = [probability for _, probability in problem.outcomes(after)]
    assert len(shares) == 2
    assert shares[0] == pytest.approx(0.5, abs=0.05)


def test_the_searcher_chooses_first_of_simultaneous_movers_in_the_search():
    """Rock, paper, scissors: whoever goes first loses, for each of the two players."""
    for player in (0, 1):
        result = run(OpenSpielProblem("matrix_rps", player=player), 3000)
        assert result.player == player
        assert result.value < -0.7


def test_simultaneous_movers_end_a_game():
    problem = OpenSpielProblem("goofspiel(num_cards=4,points_order=descending)")
    assert -1 <= run(problem, 400).value <= 1
    view_of_chance = OpenSpielProblem("goofspiel(num_cards=3)")
    start = view_of_chance.initial()
    assert view_of_chance.player(start) == tt.CHANCE
    after = view_of_chance.copy(start)
    view_of_chance.step(after, view_of_chance.outcomes(start)[0][0])
    assert not start.state.history()
    assert run(view_of_chance, 300, root=after).player == 0


@pytest.mark.parametrize(
    "name",
    [
        "tic_tac_toe",
        "pig(horizon=40)",
        "2048",
        "oshi_zumo(coins=5)",
        "nim",
        "backgammon",
        "cliff_walking",
        "havannah(board_size=3)",
    ],
)
def test_any_open_game_can_be_searched(name):
    problem = OpenSpielProblem(name)
    state = problem.initial()
    while problem.player(state) == tt.CHANCE:
        state = problem.copy(state)
        problem.step(state, problem.outcomes(state)[-1][0])
    result = run(problem, 60, root=state)
    assert not result.failures
    assert result.action in problem.actions(state)


@pytest.mark.parametrize(("game", "error", "text"), [
    ("no_such_game", UnknownGameError, "no such game"), (5, ConfigError, "must be the name"), ("kuhn_poker", ConfigError, "give a state"),
    ("mfg_crowd_modelling", ConfigError, "mean-field"),
])  # fmt: skip
def test_what_cannot_be_searched_is_reported(game, error, text):
    with pytest.raises(error, match=text):
        OpenSpielProblem(game)


def test_a_game_that_cannot_draw_what_is_hidden_is_refused():
    with pytest.raises(ConfigError, match="cannot resample"):
        OpenSpielProblem(state_of("phantom_ttt", 4))


def test_a_bot_beats_random_moves():
    bot = TreetopBot(tt.Limit(simulations=300), seed=1)
    state = state_of("tic_tac_toe")
    scores = [
        pyspiel.evaluate_bots(state.clone(), [bot, pyspiel.make_uniform_random_bot(1, seed)], seed)[0]
        for seed in range(10)
    ]
    assert sum(scores) >= 8
    assert min(scores) >= 0


def test_a_bot_plays_hidden_cards_and_dice():
    for game in ("kuhn_poker", "pig(winscore=20,horizon=100)"):
        bots = [TreetopBot(tt.Limit(simulations=50), seed=1), TreetopBot(tt.Limit(simulations=50), seed=2, player_id=1)]
        returns = pyspiel.evaluate_bots(pyspiel.load_game(game).new_initial_state(), bots, 5)
        assert sum(returns) == 0


def test_a_bot_reports_its_policy():
    bot = TreetopBot(tt.Limit(simulations=300), seed=1)
    policy, action = bot.step_with_policy(state_of("tic_tac_toe", 0, 8, 1, 7))
    assert action == 2
    assert sum(share for _, share in policy) == pytest.approx(1)
    assert bot.get_policy(state_of("tic_tac_toe", 0, 8, 1, 7)) == policy


def test_a_player_of_treetop_s_own_game_is_a_bot():
    """Both know Connect Four by the same actions; the player keeps his tree from move to move."""
    from treetop.players.search import SearchPlayer

    player = SearchPlayer("uct", tt.uct(), tt.Limit(simulations=200))
    bot = TreetopBot(player=player, game="connect_four", seed=1)
    scores = [
        pyspiel.evaluate_bots(state_of("connect_four"), [bot, pyspiel.make_uniform_random_bot(1, seed)], seed)[0]
        for seed in range(3)
    ]
    assert scores == [1.0, 1.0, 1.0]
    assert player.last_result is not None


def test_a_player_of_another_game_is_reported_at_once():
    from treetop.players.baselines import RandomPlayer

    bot = TreetopBot(player=RandomPlayer("random"), game="othello", to_theirs=lambda state, action: 99)
    with pytest.raises(PlayerError, match="not legal there"):
        bot.step(state_of("tic_tac_toe"))
    with pytest.raises(ConfigError, match="needs both"):
        TreetopBot(player=RandomPlayer("random"))


def test_the_same_seed_gives_the_same_moves():
    moves = [
        [TreetopBot(tt.Limit(simulations=60), seed=seed).step(state_of("connect_four")) for _ in range(2)]
        for seed in range(3)
    ]
    assert all(one == two for one, two in moves)
