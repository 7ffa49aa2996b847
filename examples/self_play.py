"""Train a network by self-play, in the way of AlphaZero: tic-tac-toe, and a network of two layers in NumPy."""

import numpy as np

import treetop as tt

rng = np.random.default_rng(1)
hidden, output = rng.normal(0, 0.3, (18, 64)), rng.normal(0, 0.1, (64, 10))  # the weights: nine logits and a value


def forward(states):
    """Return the features of states, their hidden units, logits, and values for the player to move."""
    boards = np.stack([states["mine"], states["marks"] ^ states["mine"]], axis=1)  # [states, 2]
    features = (boards[:, :, None] >> np.arange(9, dtype=np.uint64) & 1).reshape(-1, 18).astype(float)
    units = np.maximum(features @ hidden, 0)
    return features, units, (units @ output)[:, :9], np.tanh((units @ output)[:, 9])


class Network:
    """The network as an evaluator."""

    def evaluate(self, batch):  # all that a search asks for
        return forward(batch.states)[2:]


def play():
    """Play a game against itself; return its states, the policies of the searches, and the outcomes for the movers."""
    position, steps = tt.position("tic_tac_toe"), []
    config = tt.puct(c=1.5, noise=0.25, final="temperature", batch_size=8)
    while not position.is_terminal:
        result = tt.search(position, config, evaluator=Network(), simulations=40, seed=int(rng.integers(2**32)))
        steps.append((position.record, result.target(), position.player))  # the target: shares of the visits
        position = position.apply(result.action)
    states, policies, players = zip(*steps, strict=True)
    return np.concatenate(states), np.array(policies), np.array(position.rewards)[list(players)]


def train(states, policies, outcomes, rate=0.2):
    """Take a step down the gradient of the policy's cross entropy and the value's squared error."""
    features, units, logits, values = forward(states)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    slope = np.column_stack([shares - policies, (values - outcomes) * (1 - values**2)]) / len(states)
    hidden[:] -= rate * features.T @ (slope @ output.T * (units > 0))
    output[:] -= rate * units.T @ slope


def score(seat):
    """Return the reward of the network in a game against random moves: it plays its highest logit, without search."""
    position = tt.position("tic_tac_toe")
    while not position.is_terminal:
        legal, logits = position.legal_actions(), forward(position.record)[2][0]
        best = max(legal, key=logits.__getitem__)
        position = position.apply(best if position.player == seat else int(rng.choice(legal)))
    return position.rewards[seat]


games = []
for turn in range(5):
    if turn:
        games += [play() for _ in range(15)]
        data = [np.concatenate(part) for part in zip(*games, strict=True)]
        for rows in rng.integers(len(data[0]), size=(500, 64)):
            train(*(part[rows] for part in data))
    rewards = [score(seat) for seat in [0, 1] * 50]
    print(f"after {len(games)} games of self-play: mean reward {np.mean(rewards):+.2f} against random moves")
