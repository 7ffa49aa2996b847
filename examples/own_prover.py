"""A prover of your own: saw a board into square tiles. A goal is a board, a tactic a cut, and both parts must be sawn on."""

from dataclasses import dataclass

from treetop.prove import Attempt, Goal, Suggestion, Verdict, prove

SIDES = (2, 3, 5)


class Saw:
    """The prover: what becomes of a board."""

    def __init__(self, board):
        self.board = board

    def root(self):
        return Goal(self.board)

    def attempt(self, place, tactic, seconds=None):
        width, height = map(int, place.goal.key.split("x"))
        if tactic == "tile":
            return Attempt(()) if width == height in SIDES else Attempt(None, "no tile has this form")
        way, at = tactic.split()
        parts = (f"{at}x{height}", f"{width - int(at)}x{height}") if way == "across" else (f"{width}x{at}", f"{width}x{height - int(at)}")
        return Attempt(tuple(map(Goal, parts)))

    def close(self):
        pass


@dataclass(frozen=True)
class Tiling:
    """The theorem: this board can be sawn into tiles. It also says who suggests cuts, and who checks what was found."""

    name: str

    def open(self):
        return Saw(self.name)

    def provider(self, prover):
        return self

    def suggest(self, goal):
        width, height = map(int, goal.key.split("x"))
        cuts = [f"{way} {at}" for way, size in (("across", width), ("along", height)) for at in SIDES if at < size]
        return [Suggestion("tile", 1.0)] + [Suggestion(cut, 1.0 / len(cuts)) for cut in cuts]

    def script(self, proof):
        return "  ".join(part.goal.key if part.tactic == "tile" else f"{part.goal.key} {part.tactic}:" for part in proof.walk())

    def verify(self, proof):
        """Lay the tiles side by side: they must have the board's area. What was sawn is not asked."""
        tiles = [int(part.goal.key.split("x")[0]) for part in proof.walk() if part.tactic == "tile"]
        width, height = map(int, self.name.split("x"))
        fits = sum(side * side for side in tiles) == width * height and set(tiles) <= set(SIDES)
        return Verdict(fits, "" if fits else "the tiles do not cover the board", checker="a ruler")

    def facts(self):
        return {"prover": "saw", "statement": f"a board of {self.name} can be sawn into square tiles"}


if __name__ == "__main__":
    for board in ("10x6", "11x7", "13x11", "7x5"):
        print(prove(Tiling(board), seconds=10), end="\n\n")
