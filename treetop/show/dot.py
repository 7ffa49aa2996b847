"""A search tree in the language of Graphviz."""

from __future__ import annotations

from treetop.search.result import SearchResult
from treetop.show.labels import Label, label_of, plain
from treetop.show.trees import tree_of
from treetop.show.views import game_title

_WIDEST = 12.0  # the edge of all visits, in points


def dot_of(result: SearchResult, nodes: int) -> str:
    """Return the most visited nodes of the tree of a result as a directed graph.

    >>> import treetop as tt
    >>> text = dot_of(tt.search("tic_tac_toe", simulations=500, seed=1), 2)
    >>> text.splitlines()[-2]
    '  n0 -> n1 [penwidth=5.0];'
    """
    found = tree_of(result, nodes)
    name = quoted(f"{game_title(result)}: {result.move}, {result.root_visits:,} simulations")
    lines = [
        "digraph tree {",
        f'  graph [label={name}, labelloc=t, fontname="Helvetica", rankdir=LR, ranksep=0.5, nodesep=0.12];',
        '  node [shape=box, style="filled,rounded", color="#00000000", margin="0.16,0.06"];',
        '  node [fontname="Helvetica", fontcolor=white];',
        '  edge [color="#b9c0bb", arrowhead=none];',
    ]
    labels = [label_of(result.position, node) for node in found["nodes"]]
    for index, label in enumerate(labels):
        text = f"{escaped(label.move)}\\n{escaped(label.facts)}"
        lines.append(f'  n{index} [label="{text}", fillcolor="{label.colour}"{_marked(label)}];')
    for index, node in enumerate(found["nodes"]):
        if node["parent"] >= 0:
            width = max(0.8, _WIDEST * node["visits"] / max(1, labels[0].visits))
            lines.append(f"  n{node['parent']} -> n{index} [penwidth={width:.1f}];")
    return "\n".join([*lines, "}"]) + "\n"


def escaped(text: str) -> str:
    r"""Return a text as it stands inside of the quotes of a label: nothing in it is an escape of Graphviz.

    >>> print(escaped('a "b" \\N'))
    a \"b\" \\N
    """
    return plain(text).replace("\\", "\\\\").replace('"', '\\"')


def quoted(text: str) -> str:
    """Return a text in quotes.

    >>> quoted("b2")
    '"b2"'
    """
    return f'"{escaped(text)}"'


def _marked(label: Label) -> str:
    """Return the attributes of a node's marks: double borders at the end of the game, gold for proven values."""
    found = []
    if "chance" in label.marks:
        found.append("shape=ellipse")
    if "terminal" in label.marks:
        found.append('style=filled, peripheries=2, color="#22252a"')
    if label.marks & {"simultaneous", "folded", "shared"}:
        found.append('style="filled,rounded,dashed", color="#22252a"')
    if "proven" in label.marks:
        found.append('color="#e0a800", penwidth=2.5')
    return "".join(f", {attributes}" for attributes in found)
