"""The published notebook's training loop on tic-tac-toe: the textbook's search, and torch.

    python examples/notebook_training.py theirs
    alphazero prove player=theirs_1.safetensors,with_search=false

"theirs" is the class of notebook_tic_tac_toe.py, "ours" the compiled game. The network is stored,
so that its moves can be checked. docs/notebooks.md has the recipe, and what it reaches.
"""

import argparse
import copy
import random
from functools import partial
from pathlib import Path

import torch
from notebook_tic_tac_toe import TicTacToe

import alphazero as az
from alphazero.network import notebook, weights
from alphazero.network.interface import NetworkSettings, expected_value
from alphazero.textbook.alphazero import NOTEBOOK, AlphaZero, play_episode
from alphazero.textbook.game import PlainGame
from alphazero.textbook.play import play_game

SHAPE = NetworkSettings("notebook", channels=16, kernel_size=2, value_units=8, value_head="scalar")
NUM_SIMULATIONS, ILLEGAL = 200, -1.0


def planes(boards):
    """Return boards of 1 (own), -1 and 0 as two planes, float32[M, 2, 3, 3]."""
    boards = torch.as_tensor(boards).view(-1, 3, 3)
    return torch.stack([boards == 1, boards == -1], dim=1).float()


def make_search(game, network):
    """Return the notebook's search with a network."""

    @torch.inference_mode()
    def evaluate(rules, state):
        output, actions = network(planes(rules.canonicalize(state))), rules.legal_actions(state)
        priors = output.prior_logits[0, actions].softmax(dim=0).tolist()
        return dict(zip(actions, priors)), expected_value(output.value_logits).item()

    return AlphaZero(game, evaluate, rng=random.Random(random.random()), **NOTEBOOK)


def examples_of(game, sample):
    """Return (board, policy target, outcome) under each distinct symmetry."""
    target = [sample.action_weights.get(action, ILLEGAL) for action in range(game.action_size)]
    images = dict(game.get_symmetries(game.canonicalize(sample.state), target))
    return [(board, probs, sample.outcome) for board, probs in images.items()]


def learn(network, optimizer, examples, num_epochs=10, batch_size=64):
    """Train on the examples, shuffled once; return the mean loss of each epoch."""
    boards, policies, outcomes = map(torch.tensor, zip(*random.sample(examples, len(examples))))
    losses = [[] for _ in range(num_epochs)]
    for epoch in losses:
        for first in range(0, len(boards) - batch_size + 1, batch_size):
            rows = slice(first, first + batch_size)
            output, is_legal = network(planes(boards[rows])), policies[rows] != ILLEGAL
            log_p = output.prior_logits.masked_fill(~is_legal, -1e30).log_softmax(dim=1)
            errors = expected_value(output.value_logits) - outcomes[rows]
            loss = errors.pow(2).mean() - (policies[rows] * log_p * is_legal).sum(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch.append(loss.item())
    return [sum(epoch) / max(len(epoch), 1) for epoch in losses]


def move_of(search, state, num_sampled_plies=0):
    """Return the most visited move; of the first plies, one in proportion to the visits."""
    search.reset(state)
    output = search.search(NUM_SIMULATIONS)
    if sum(map(bool, search.game.canonicalize(state))) >= num_sampled_plies:
        return output.action
    return random.choices(*zip(*output.action_weights.items()))[0]


def pit(game, new, old, num_games=250):
    """Return the score of the new network as either player in turn; a draw counts as positive."""
    # Two moves are sampled: otherwise all games of a pair of networks would be the same.
    new, old = (partial(move_of, make_search(game, one), num_sampled_plies=2) for one in (new, old))
    results = [play_game(game, new, old)[1] for _ in range(num_games // 2)]
    results += [-play_game(game, old, new)[1] for _ in range(num_games // 2)]
    return sum(result >= 0 for result in results) / len(results)


def main(which, iterations, seed, pit_every):
    """Train, and store the network."""
    torch.manual_seed(seed)
    random.seed(seed)
    game = TicTacToe() if which == "theirs" else PlainGame(az.make_game("tic_tac_toe"))
    network = notebook.NotebookNetwork((2, 3, 3), game.action_size, SHAPE)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-4)
    accepted = copy.deepcopy(network)
    for iteration in range(1, iterations + 1):
        search = make_search(game, network)
        # Five episodes; temperature 1 while step < 5, so for four moves.
        samples = [one for _ in range(5) for one in play_episode(search, NUM_SIMULATIONS, 4)]
        examples = [image for sample in samples for image in examples_of(game, sample)]
        print(f"iteration {iteration}: loss {learn(network, optimizer, examples)[-1]:.3f}")
        if pit_every and iteration % pit_every == 0:
            score = pit(game, network, accepted)
            print(f"pit: {score:.0%}, {'accepted' if score >= 0.55 else 'rejected'}")
            network.load_state_dict((network if score >= 0.55 else accepted).state_dict())
            accepted = copy.deepcopy(network)
    path, arrays = Path(f"{which}_{seed}.safetensors"), weights.network_arrays(network)
    weights.save_network(path, arrays, "tic_tac_toe", vars(SHAPE), {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("which", choices=("theirs", "ours"))
    for name, default in (("iterations", 150), ("seed", 1), ("pit_every", 0)):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    main(**vars(parser.parse_args()))
