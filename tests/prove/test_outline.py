"""The tree of a search as text: what is shown, in which order, and how much is left out."""

from __future__ import annotations

from tests.prove.toy import TableTheorem
from treetop.prove.config import ProofConfig
from treetop.prove.graph import Graph
from treetop.prove.outline import conclusion, outline
from treetop.prove.prover import Attempt, Goal, Suggestion
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

SHARED = {
    "A": {"wrong": None, "split": ("B", "C"), "stuck": ("D",)},
    "B": {"to E": ("E",)},
    "C": {"to E": ("E",)},
    "D": {"fails": None},
    "E": {"done": ()},
}


def searched(table, **limits):
    with ProofSearch(TableTheorem(table), ProofConfig(width=1), seed=None) as search:
        return search.run(Limit(**{"simulations": 100, **limits}))


def test_the_proof_stands_first_and_a_shared_goal_is_named_once():
    lines = str(searched(SHARED).tree()).splitlines()
    assert lines[:6] == [
        "+ goal 0: A",
        "  + split",
        "    + goal 1: B",
        "      + to E",
        "        + goal 3: E",
        "          + done",
    ]
    assert [line.strip() for line in lines if "goal 3" in line] == ["+ goal 3: E", "+ goal 3: E  (above)"]
    assert lines[-1] == "(+ proved, ? open, x dead)"


def test_failed_tactics_are_shown_only_where_everything_is_asked_for():
    result = searched(SHARED)
    assert "wrong" not in str(result.tree())
    assert "x wrong  (it fails)" in str(result.tree(everything=True))


def test_dead_goals_say_why():
    text = str(searched({"A": {"first": ("B",), "second": ("C",)}, "B": {"no": None}, "C": {"no": None}}).tree())
    assert "x goal 1: B  (no tactic is left that could prove it)" in text
    assert text.startswith("x goal 0: A")


def test_a_long_tree_is_cut_and_says_so():
    width = 30
    table = {
        "A": {f"t{n}": (f"G{n}",) for n in range(width)},
        **{f"G{n}": {f"u{m}": (f"H{n}_{m}",) for m in range(3)} for n in range(width)},
    }
    table |= {f"H{n}_{m}": {"no": None, "maybe": ("A",)} for n in range(width) for m in range(3)}
    result = searched(table, simulations=60)
    tree = result.tree(lines=20)
    assert len(tree.lines) <= 20
    assert tree.left_out > 0
    assert f"{tree.left_out:,} of {tree.tactics:,} tactics are left out" in str(tree)
    assert " more" in str(tree.lines[0])
    assert result.tree(lines=None).left_out == 0


def test_a_deep_tree_is_drawn_without_recursion():
    graph = Graph(Goal("G0"))
    for number in range(3000):
        graph.expand(graph.goals[-1], [Suggestion("down", 1.0)])
        graph.record(graph.goals[-1], Suggestion("down", 1.0), Attempt((Goal(f"G{number + 1}"),)))
    assert len(outline(graph, lines=None).lines) == 2 * 3000 + 1
    assert len(outline(graph).lines) == 59


def test_goals_are_shown_as_somebody_writes_them():
    tree = searched(SHARED).tree(show=lambda node: f"x : nat\n==========\nthe goal\n{node.goal.key}")
    assert str(tree.lines[0]) == "+ goal 0: the goal A"
    assert conclusion("H : a = b |- b =\n  a") == "b = a"
    assert conclusion("nothing else") == "nothing else"
