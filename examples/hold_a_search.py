"""A search is an object: show its progress, stop it, reuse its tree, save it, load it, bound its memory."""

import tempfile
from pathlib import Path

import treetop as tt

search = tt.Search("othello(size=6)", tt.uct(c=1.0, max_nodes=20_000), seed=7)
search.run(
    tt.Limit(seconds=0.5, simulations=100_000),
    progress=lambda now: print(f"{now.simulations:>7,} simulations, best so far {now.best}"),
)

for _ in range(4):  # tree reuse: the subtree of each move is kept
    move = search.result().move
    kept = search.simulations
    search.advance(move)
    print(f"after {move}: {search.simulations:,} of {kept:,} simulations kept, {search.tree!r}")
    search.run(tt.Limit(simulations=10_000))

with tempfile.TemporaryDirectory() as folder:
    search.save(Path(folder) / "search.treetop")
    loaded = tt.Search.load(Path(folder) / "search.treetop")
for each in (search, loaded):  # both continue in the same way, bit for bit
    each.run(tt.Limit(simulations=1_000))
assert loaded.result().visits == search.result().visits

node = search.tree.root
while node.children:
    node = max(node.children, key=lambda child: child.visits)
    print("  " * 2, node)
