"""Train a network by self-play, in the way of AlphaZero: tic-tac-toe, and a network of two layers in NumPy."""

import numpy as np

import treetop as tt

game, rng = tt.load_game("tic_tac_toe"), np.random.default_rng(1)
hidden, output = rng.normal(0, 0.3, (27, 64)), rng.normal(0, 0.1, (64, 10))  # the weights: nine logits and a value


def forward(observations):
    """Return the features of observations, their hidden units, logits, and values for the player to move."""
    features = observations.reshape(len(observations), -1)
    units = np.maximum(features @ hidden, 0)
    return features, units, (units @ output)[:, :9], np.tanh((units @ output)[:, 9])


class Network:
    """The network as an evaluator."""

    def evaluate(self, batch):  # all that a search asks for
        return forward(batch.observations)[2:]


def train(observations, policies, outcomes, rate=0.2):
    """Take a step down the gradient of the policy's cross entropy and the value's squared error."""
    features, units, logits, values = forward(observations)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    slope = np.column_stack([shares - policies, (values - outcomes) * (1 - values**2)]) / len(observations)
    hidden[:] -= rate * features.T @ (slope @ output.T * (units > 0))
    output[:] -= rate * units.T @ slope


def score(seat):
    """Return the reward of the network in a game against random moves: it plays its highest logit, without search."""
    position = tt.position(game)
    while not position.is_terminal:
        legal, logits = position.legal_actions(), forward(tt.states.observations(game, position.record))[2][0]
        best = max(legal, key=logits.__getitem__)
        position = position.apply(best if position.player == seat else int(rng.choice(legal)))
    return position.rewards[seat]


config = tt.puct(c=1.5, noise=0.25, final="temperature")
pool = tt.SearchPool(game, config, slots=32, evaluator=Network(), seed=1)
steps = [[] for _ in range(len(pool))]  # of the game in each slot
rows, games = [], 0
for turn in range(5):
    while games < 100 * turn:
        pool.run(simulations=40)  # all slots, with one batch for their leaves
        results, observations = pool.results(), pool.batch().observations
        for slot, step in enumerate(zip(observations, results.target, results.players, strict=True)):
            steps[slot].append(step)
        for finished in pool.advance(results.actions):  # a new game begins in its slot
            rows += [(seen, target, finished.returns[player]) for seen, target, player in steps[finished.slot]]
            steps[finished.slot], games = [], games + 1
    if rows:
        data = [np.array(part) for part in zip(*rows, strict=True)]
        for chosen in rng.integers(len(rows), size=(500, 64)):
            train(*(part[chosen] for part in data))
    rewards = [score(seat) for seat in [0, 1] * 50]
    print(f"after {games} games of self-play: mean reward {np.mean(rewards):+.2f} against random moves")
