"""The methods of a result that show it: pages, pictures, plots and widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from treetop.search.result import SearchResult


class Shown:
    """The base of results: what it offers is drawn by `treetop.show`, the layer above, which is loaded when needed."""

    def show(self) -> Any:
        """Return the result as a widget in a notebook; elsewhere, open it in the browser.

        The widget needs `pip install -e ".[notebook]"`, and is shown as the value of a cell. Outside of a notebook the
        page of `html` is written to a temporary file and opened; its path is returned.
        """
        from treetop.show.widget import show

        return show(cast("SearchResult", self))

    def html(self) -> str:
        """Return a page that shows the board, the moves with every term of the formula, and the tree.

        It is one self-contained text, at most 1 MB, that loads nothing: save it, mail it, open it from the disk. It
        holds the 2,000 most visited nodes of the tree.

        >>> import treetop as tt
        >>> page = tt.search("tic_tac_toe", simulations=500, seed=1).html()
        >>> page.partition(">")[0], len(page) < 1_000_000
        ('<!doctype html', True)
        """
        from treetop.show.page import page_of

        return page_of(cast("SearchResult", self))

    def plot(self, moves: int = 12) -> Figure:
        """Return a Matplotlib figure of the most visited moves: visits beside priors, and values with 95% intervals.

        It opens no window: a notebook shows it, and `figure.savefig("search.png")` saves it. Needs
        `pip install -e ".[plot]"`.

        >>> import treetop as tt
        >>> figure = tt.search("tic_tac_toe", simulations=500, seed=1).plot()
        >>> len(figure.axes)
        2
        """
        from treetop.show.plot import plot_of

        return plot_of(cast("SearchResult", self), moves)

    def svg(self, nodes: int = 60) -> str:
        """Return the tree as an SVG picture: its most visited nodes, with edges as wide as their visits.

        Raise StaleNodeError after the search has continued.

        >>> import treetop as tt
        >>> tt.search("tic_tac_toe", simulations=500, seed=1).svg(nodes=10).count('class="node')
        10
        """
        from treetop.show.svg import svg_of

        return svg_of(cast("SearchResult", self), nodes)

    def dot(self, nodes: int = 60) -> str:
        r"""Return the tree in the language of Graphviz: its most visited nodes. `dot -Tpdf tree.dot` draws it.

        Raise StaleNodeError after the search has continued.

        >>> import treetop as tt
        >>> print(tt.search("nim(stones=3)", simulations=100, seed=1).dot(nodes=2).splitlines()[-3].strip())
        n1 [label="3\n93 · +1.000", fillcolor="#239f6d", style=filled, peripheries=2, color="#22252a"];
        """
        from treetop.show.dot import dot_of

        return dot_of(cast("SearchResult", self), nodes)
