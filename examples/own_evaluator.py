"""PUCT with an evaluator in Python: priors and values from your own code, in batches.

Here it is a few lines of arithmetic; a network has the same interface: states in, logits and values out.
"""

import numpy as np

import treetop as tt

CENTRE = np.array([0.0, 0.5, 1.0, 2.0, 1.0, 0.5, 0.0])


class PreferTheCentre:
    """Logits that favour the middle columns, and a value by the discs there, for the player to move."""

    name = "prefer the centre"

    def evaluate(self, batch):
        middle = np.uint64(0x0808_0808_0808)  # column 4 of Connect Four's bit board
        mine = np.bitwise_count(batch.states["mine"] & middle).astype(float)
        theirs = np.bitwise_count((batch.states["discs"] ^ batch.states["mine"]) & middle).astype(float)
        return np.tile(CENTRE, (len(batch), 1)), np.tanh(0.2 * (mine - theirs))


search = tt.Search("connect_four", tt.puct(c=1.5), evaluator=PreferTheCentre(), seed=1)
print(search.run(tt.Limit(simulations=2_000)), end="\n\n")

# The same by hand, for evaluators in another process: ask for leaves, evaluate them anywhere, tell the results.
search = tt.Search("connect_four", tt.puct(c=1.5), evaluator=PreferTheCentre(), seed=1)
sizes = []
while batch := search.ask(64, tt.Limit(simulations=2_000)):
    logits, values = search.evaluator.evaluate(batch)
    search.tell(batch, logits, values)
    sizes.append(len(batch))
print(
    f"{len(sizes)} batches, {sum(sizes)} evaluations for {search.simulations} simulations; plays {search.result().move}"
)
