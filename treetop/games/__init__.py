"""The bundled games, one file each. `treetop.load_game` loads them by name."""

from typing import NamedTuple


class Recommended(NamedTuple):
    """The recommended player of a game, and how strong it was when it was measured."""

    player: str
    """The player, as a spec: rule, options, evaluator and limit."""
    strength: str
    """The measured strength, with a 95% interval; "not measured" where there is no measurement."""
    command: str | None
    """The command that measured it."""


_NOT_MEASURED = "not measured"
_OPTIONS = "python scripts/measure_options.py --games 200"
_QUIET = (
    "puct(simulations=1000, c=1.25, fpu='parent', fpu_reduction=0, expand_after=1, "
    "evaluator='heuristic(prior_temperature=0.2)')"
)
"""For games whose heuristic sees what hangs."""

RECOMMENDED = {
    "amazons": Recommended("uct(simulations=1000)", _NOT_MEASURED, None),
    "ataxx": Recommended("uct(simulations=1000)", _NOT_MEASURED, None),
    "backgammon": Recommended(
        "uct(simulations=5000, c=0.5, evaluator='heuristic')",
        "56.0% of 200 games against gnubg(level='beginner'): Elo +41.9 (-5.4 to +89.2)",
        "treetop match \"uct(simulations=5000, c=0.5, evaluator='heuristic')\" \"gnubg(level='beginner')\" "
        "--game backgammon --games 200 --workers 1",
    ),
    "blackjack": Recommended(
        "uct(simulations=1000)",
        "mean -0.0395 (-0.1012 to 0.02216), 43.3% wins (40.3% to 46.4%) of 1,000 games",
        'treetop evaluate blackjack --player "uct(simulations=1000)" --games 1000 --seed 1',
    ),
    "breakthrough": Recommended(
        "puct(simulations=1000, c=1.25, evaluator='heuristic(prior_temperature=0.2)')",
        "60 of 60 games against uct(simulations=1000): Elo above +357",
        "treetop match \"puct(simulations=1000, c=1.25, evaluator='heuristic(prior_temperature=0.2)')\" "
        '"uct(simulations=1000)" --game breakthrough --games 60 --seed 1',
    ),
    "checkers": Recommended("uct(simulations=1000)", _NOT_MEASURED, None),
    "chess": Recommended(
        _QUIET,
        "94.8% of 200 games against Stockfish 15.1 at UCI_Elo 1350, 1,000 nodes a move: Elo +503 (+403 to +602)",
        f'treetop match "{_QUIET}" '
        "\"uci('stockfish', nodes=1000, options={'UCI_LimitStrength': True, 'UCI_Elo': 1350})\" "
        "--game chess --games 200 --seed 2026",
    ),
    "cliff_walking": Recommended(
        "uct(simulations=1000, c=0.02, evaluator='heuristic', backup='max')",
        "mean -14.82 (-15.1 to -14.55) of 40 games; the shortest safe way has -13",
        "treetop evaluate cliff_walking "
        "--player \"uct(simulations=1000, c=0.02, evaluator='heuristic', backup='max')\" --games 40 --seed 2",
    ),
    "clobber": Recommended("uct(simulations=1000, solver=True)", _NOT_MEASURED, None),
    "connect_four": Recommended(
        "uct(simulations=1000, evaluator=\"rollout(policy='game')\")",
        "Elo +83 (+36 to +130) against uct(simulations=1000), +134 (+46 to +221) at equal time",
        _OPTIONS,
    ),
    "go": Recommended(
        "rave(simulations=10000, amaf_bias=0.001, evaluator=\"rollout(policy='game')\")",
        "78.5% of 144 games against GNU Go 3.8 at level 10 in go(size=9): Elo +225 (+165 to +284)",
        'treetop match "rave(simulations=10000, amaf_bias=0.001, evaluator=\\"rollout(policy=\'game\')\\")" '
        "\"gtp('gnugo --mode gtp --level 10 --chinese-rules --positional-superko --capture-all-dead --never-resign', "
        'komi=7.5)" --game "go(size=9)" --games 144 --workers 1 --seed 2026',
    ),
    "gomoku": Recommended(
        "rave(simulations=1000)",
        "Elo +576 (+450 to +703) against uct(simulations=1000) in gomoku(size=9), +512 (+321 to +702) at equal time",
        _OPTIONS,
    ),
    "goofspiel": Recommended(
        "regret_matching(simulations=1000)",
        "86.5% of 100 games against random: Elo +323 (+241 to +404)",
        'treetop match "regret_matching(simulations=1000)" random --game goofspiel --games 100 --seed 1',
    ),
    "hex": Recommended(
        "rave(simulations=1000)",
        "Elo +382 (+302 to +462) against uct(simulations=1000) in hex(size=7), +260 (+146 to +373) at equal time",
        _OPTIONS,
    ),
    "kuhn_poker": Recommended(
        "regret_matching(simulations=1000)",
        "0.56 (0.4417 to 0.6783) more a game than random, 400 games",
        'treetop match "regret_matching(simulations=1000)" random --game kuhn_poker --games 400 --seed 1',
    ),
    "leduc_poker": Recommended(
        "regret_matching(simulations=1000)",
        "3.1 (2.416 to 3.784) more a game than random, 400 games",
        'treetop match "regret_matching(simulations=1000)" random --game leduc_poker --games 400 --seed 1',
    ),
    "matching_pennies": Recommended("regret_matching(simulations=1000)", _NOT_MEASURED, None),
    "minishogi": Recommended(
        "puct(simulations=1000, c=1.25, evaluator='heuristic(prior_temperature=0.2)')",
        "20 of 20 games against uct(simulations=1000): Elo above +166",
        "treetop match \"puct(simulations=1000, c=1.25, evaluator='heuristic(prior_temperature=0.2)')\" "
        '"uct(simulations=1000)" --game minishogi --games 20 --seed 1',
    ),
    "nim": Recommended(
        "uct(simulations=1000, solver=True)",
        "100 of 100 games against random: Elo above +446",
        'treetop match "uct(simulations=1000, solver=True)" random --game nim --games 100 --seed 1',
    ),
    "nim_three": Recommended("uct(simulations=1000)", _NOT_MEASURED, None),
    "othello": Recommended(
        "uct(simulations=1000, evaluator='rollout(depth=8)')",
        "Elo +235 (+177 to +294) against uct(simulations=1000), +280 (+170 to +389) at equal time",
        _OPTIONS,
    ),
    "pendulum": Recommended(
        "uct(simulations=1000)",
        "mean -271 (-378.5 to -163.5) of 10 games; random play has -1,265",
        'treetop evaluate pendulum --player "uct(simulations=1000)" --player random --games 10 --seed 1',
    ),
    "pig": Recommended(
        "uct(simulations=1000, evaluator='heuristic')",
        "52.0% of 100 games against greedy, which plays by the same heuristic: Elo +13.9 (-58.2 to +86.0)",
        "treetop match \"uct(simulations=1000, evaluator='heuristic')\" greedy --game pig --games 100 --seed 1",
    ),
    "rock_paper_scissors": Recommended("regret_matching(simulations=1000)", _NOT_MEASURED, None),
    "sailing": Recommended(
        "uct(simulations=1000)",
        "mean -92.15 (-107.6 to -76.68) of 40 games; random play has -1,442",
        'treetop evaluate sailing --player "uct(simulations=1000)" --player random --games 40 --seed 1',
    ),
    "scoundrel": Recommended(
        "uct(simulations=10000, c=0.3, expand_after=15, evaluator=\"rollout(policy='game')\")",
        "69.3% wins (66.4% to 72.1%), mean -2.62 (-4.88 to -0.37) of 1,000 deals",
        "treetop evaluate scoundrel --games 1000 --seed 20261116",
    ),
    "shogi": Recommended(
        "puct(simulations=1000, c=1.25, evaluator='heuristic(prior_temperature=0.2)')",
        _NOT_MEASURED,
        None,
    ),
    "tic_tac_toe": Recommended(
        "uct(simulations=2000)",
        "no wrong move in the 3,191 positions that have one",
        "pytest tests/claims/test_tic_tac_toe.py",
    ),
    "twenty48": Recommended(
        "uct(simulations=1000, c=1.0, evaluator='heuristic', backup='max')",
        "mean score 69,726 (62,956 to 76,496); 98 of 100 games reach 2048",
        "treetop evaluate twenty48 --games 100 --seed 2048",
    ),
    "xiangqi": Recommended(
        _QUIET,
        "200 of 200 games against Fairy-Stockfish 11.1 at Skill Level -10, 10,000 nodes: Elo above +566",
        f'treetop match "{_QUIET}" '
        "\"uci('fairy-stockfish', variant='xiangqi', nodes=10000, options={'Skill Level': -10})\" "
        "--game xiangqi --games 200 --seed 2026",
    ),
}
"""The recommended player of each bundled game. `treetop.players.recommended` returns it for a game."""
