"""Write your own prover: saw a board into square tiles. A goal is a board, a tactic is a cut into two boards."""

from dataclasses import dataclass

from treetop.prove import Attempt, Goal, Suggestion, Verdict, prove

SIDES, WAYS = (2, 3, 5), ("across", "along")


class Saw:
    """The prover: the parts of a board after a cut."""

    def __init__(self, width, height):
        self.board = width, height

    def root(self):
        return Goal(str(self.board), data=self.board)

    def attempt(self, place, tactic, seconds=None):
        width, height = place.goal.data
        if tactic == "tile":
            return Attempt(()) if width == height in SIDES else Attempt(None, "no tile has this form")
        at = int(tactic.split()[1])
        parts = ((at, height), (width - at, height)) if "across" in tactic else ((width, at), (width, height - at))
        return Attempt(tuple(Saw(*part).root() for part in parts))

    def close(self):
        pass


@dataclass(frozen=True)
class Tiling:
    """The theorem: this board can be sawn into tiles. It opens the prover, suggests cuts and checks proofs."""

    width: int
    height: int
    name = "tiling"

    def open(self):
        return Saw(self.width, self.height)

    def provider(self, prover):
        return self

    def suggest(self, goal):
        cuts = [f"{way} {at}" for way, side in zip(WAYS, goal.data, strict=True) for at in SIDES if at < side]
        return [Suggestion("tile", 1.0), *(Suggestion(cut, 1.0 / len(cuts)) for cut in cuts)]

    def script(self, proof):
        return "\n".join(f"{part.goal}  {part.tactic}" for part in proof.walk())

    def verify(self, proof):
        area = sum(part.goal.data[0] ** 2 for part in proof.walk() if part.tactic == "tile")
        return Verdict(area == self.width * self.height, "the tiles do not cover the board", checker="a ruler")

    def facts(self):
        return {"prover": "saw", "statement": f"saw a board of {self.width} x {self.height} into squares of 2, 3 and 5"}


print(prove(Tiling(6, 5)), prove(Tiling(8, 5)), sep="\n\n")
