"""The published notebook's training loop on its two games, with the textbook's search and torch.

    python examples/notebook_training.py tic_tac_toe
    alphazero prove player=tic_tac_toe_1.safetensors,with_search=false

The games are the classes in notebook_tic_tac_toe.py and notebook_connect_four.py. The network is
stored, so that its moves can be checked. docs/notebooks.md has the recipe and its results.
"""

import argparse
import copy
import random
from functools import partial
from pathlib import Path

import numpy as np
import torch
from notebook_connect_four import ConnectFour
from notebook_tic_tac_toe import TicTacToe

from alphazero.network import small, weights
from alphazero.network.interface import NetworkSettings, expected_value
from alphazero.textbook.alphazero import NOTEBOOK, AlphaZero, play_episode
from alphazero.textbook.play import play_game

SHAPE = NetworkSettings("notebook", channels=16, kernel_size=2, value_units=8, value_head="scalar")
NUM_SIMULATIONS, ILLEGAL = 200, -1.0
#: Game, iterations, episodes per iteration, and plies sampled at temperature 1.
GAMES = {"tic_tac_toe": (TicTacToe(), 150, 5, 4), "connect_four": (ConnectFour(), 35, 25, 14)}


def planes(states):
    """Return canonical states as planes of own and opponent's pieces, float32[M, 2, H, W]."""
    boards = torch.as_tensor(np.stack([state.board for state in states]))
    return torch.stack([boards == 1, boards == -1], dim=1).float()


def make_search(game, network):
    """Return the notebook's search with a network."""

    @torch.inference_mode()
    def evaluate(rules, state):
        output, actions = network(planes([rules.canonicalize(state)])), rules.legal_actions(state)
        priors = output.prior_logits[0, actions].softmax(dim=0).tolist()
        return dict(zip(actions, priors)), expected_value(output.value_logits).item()

    return AlphaZero(game, evaluate, rng=random.Random(random.random()), **NOTEBOOK)


def examples_of(game, sample):
    """Return a sample's (state, policy target, outcome) under each distinct symmetry."""
    target = [sample.action_weights.get(action, ILLEGAL) for action in range(game.action_size)]
    images = game.get_symmetries(game.canonicalize(sample.state), target)
    return [(state, probs, sample.outcome) for state, probs in images]


def learn(network, optimizer, examples, num_epochs=10, batch_size=64):
    """Train on the examples, shuffled once; return the mean loss of each epoch."""
    states, *targets = zip(*random.sample(examples, len(examples)))
    boards, (policies, outcomes) = planes(states), map(torch.tensor, targets)
    losses = [[] for _ in range(num_epochs)]
    for epoch in losses:
        for first in range(0, len(boards) - batch_size + 1, batch_size):
            rows = slice(first, first + batch_size)
            output, is_legal = network(boards[rows]), policies[rows] != ILLEGAL
            log_p = output.prior_logits.masked_fill(~is_legal, -1e30).log_softmax(dim=1)
            errors = expected_value(output.value_logits) - outcomes[rows]
            loss = errors.pow(2).mean() - (policies[rows] * log_p * is_legal).sum(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch.append(loss.item())
    return [sum(epoch) / max(len(epoch), 1) for epoch in losses]


def move_of(search, state, num_sampled_plies=0):
    """Return the most visited move; in the first plies, sample in proportion to the visits."""
    search.reset(state)
    output = search.search(NUM_SIMULATIONS)
    if np.count_nonzero(state.board) >= num_sampled_plies:
        return output.action
    return random.choices(*zip(*output.action_weights.items()))[0]


def pit(game, new, old, num_games=250):
    """Return the fraction of games that the new network does not lose, on both sides in turn."""
    # Two moves are sampled; otherwise all games between two networks would be the same.
    new, old = (partial(move_of, make_search(game, one), num_sampled_plies=2) for one in (new, old))
    results = [play_game(game, new, old)[1] for _ in range(num_games // 2)]
    results += [-play_game(game, old, new)[1] for _ in range(num_games // 2)]
    return sum(result >= 0 for result in results) / len(results)


def main(which, iterations, seed, pit_every):
    """Train a network and store it."""
    torch.set_num_threads(1)  # networks as small as this one are slower on several threads
    torch.manual_seed(seed)
    random.seed(seed)
    game, num_iterations, num_episodes, num_sampled_plies = GAMES[which]
    planes_shape = planes([game.start_state()]).shape[1:]
    network = small.NotebookNetwork(planes_shape, game.action_size, SHAPE)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-4)
    accepted = copy.deepcopy(network)
    for iteration in range(1, (iterations or num_iterations) + 1):
        search, examples = make_search(game, network), []
        for _ in range(num_episodes):
            for sample in play_episode(search, NUM_SIMULATIONS, num_sampled_plies):
                examples += examples_of(game, sample)
        print(f"iteration {iteration}: loss {learn(network, optimizer, examples)[-1]:.3f}")
        if pit_every and iteration % pit_every == 0:
            score = pit(game, network, accepted)
            print(f"pit: {score:.0%}, {'accepted' if score >= 0.55 else 'rejected'}")
            network.load_state_dict((network if score >= 0.55 else accepted).state_dict())
            accepted = copy.deepcopy(network)
    path, arrays = Path(f"{which}_{seed}.safetensors"), weights.network_arrays(network)
    weights.save_network(path, arrays, which, vars(SHAPE), {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("which", choices=GAMES)
    parser.add_argument("--iterations", type=int, help="default: as in the notebook")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pit_every", type=int, default=0)
    main(**vars(parser.parse_args()))
