"""The published notebook's loop on tic-tac-toe: the textbook's search, and torch.

    python examples/notebook_training.py theirs 150 1 0
    alphazero prove player=theirs_1.safetensors num_simulations=150

The first argument is "theirs", the class of notebook_tic_tac_toe.py, or "ours", the compiled game;
then come the number of iterations, the seed, and the iterations between pits (0 is none). The
network is stored, so that its moves can be proven. docs/notebooks.md has the recipe.
"""

import copy
import random
import sys
from pathlib import Path

import torch
from notebook_tic_tac_toe import TicTacToe
from torch.nn.functional import mse_loss

import alphazero as az
from alphazero.network import interface, registry, weights
from alphazero.textbook.alphazero import NOTEBOOK, AlphaZero, play_episode
from alphazero.textbook.game import PlainGame
from alphazero.textbook.play import play_game

UNITS = dict(channels=16, shared_units=32, policy_units=16, value_units=8)


def planes(boards):  # 1 own, -1 the opponent's, 0 empty -> two planes, [M, 2, 3, 3]
    boards = torch.as_tensor(boards).view(-1, 3, 3)
    return torch.stack([boards == 1, boards == -1], dim=1).float()


def make_search(game, network):
    @torch.inference_mode()
    def evaluate(rules, state):
        output, actions = network(planes(rules.canonicalize(state))), rules.legal_actions(state)
        priors = output.prior_logits[0, actions].softmax(dim=0).tolist()
        return dict(zip(actions, priors)), interface.expected_value(output.value_logits).item()

    return AlphaZero(game, evaluate, rng=random.Random(random.random()), **NOTEBOOK)


def examples_of(game, sample):  # the distinct images; -1 marks illegal actions, also when moved
    target = [sample.action_weights.get(action, -1.0) for action in range(game.action_size)]
    images = dict(game.get_symmetries(game.canonicalize(sample.state), target))
    return [(board, probs, sample.outcome) for board, probs in images.items()]


def learn(network, optimizer, examples, num_epochs=10, batch_size=64):
    columns = zip(*random.sample(examples, len(examples)))  # shuffled once
    boards, policies, outcomes = (torch.tensor(column).float() for column in columns)
    means = []
    for _ in range(num_epochs):
        losses = []
        for first in range(0, len(boards) - batch_size + 1, batch_size):
            rows = slice(first, first + batch_size)
            output, is_legal = network(planes(boards[rows])), policies[rows] >= 0
            log_p = output.prior_logits.masked_fill(~is_legal, -1e30).log_softmax(dim=1)
            loss = mse_loss(interface.expected_value(output.value_logits), outcomes[rows])
            loss = loss - (policies[rows] * log_p * is_legal).sum(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        means.append(sum(losses) / max(len(losses), 1))
    return means


def pit(game, new, old, num_games=250, draws_count=False):
    def chooser(search):  # two moves in proportion to their visits, so that games differ
        def choose(state):
            search.reset(state)
            moves = search.search(200).action_weights
            if len(moves) > game.action_size - 2:
                return random.choices(list(moves), moves.values())[0]
            return max(moves, key=moves.get)

        return choose

    new, old = chooser(make_search(game, new)), chooser(make_search(game, old))
    results = [play_game(game, new, old)[1] for _ in range(num_games // 2)]
    results += [-play_game(game, old, new)[1] for _ in range(num_games // 2)]
    return (results.count(1) + draws_count * results.count(0)) / len(results)


def main(which="theirs", num_iterations=150, seed=1, pit_every=0):
    torch.set_num_threads(1)
    random.seed(seed)
    game = TicTacToe() if which == "theirs" else PlainGame(az.make_game("tic_tac_toe"))
    shape = interface.NetworkSettings("notebook", kernel_size=2, value_head="scalar", **UNITS)
    network = registry.make_network((2, 3, 3), game.action_size, shape, seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-4)
    accepted = copy.deepcopy(network)
    for iteration in range(1, num_iterations + 1):
        search, examples = make_search(game, network), []
        for _ in range(5):  # episodes; temperature 1 while step < 5, so for four moves
            for sample in play_episode(search, 200, num_sampled_plies=4):
                examples += examples_of(game, sample)
        print(f"iteration {iteration}: loss {learn(network, optimizer, examples)[-1]:.3f}")
        if pit_every and iteration % pit_every == 0:
            if pit(game, network, accepted) < 0.55:
                network.load_state_dict(accepted.state_dict())
            accepted = copy.deepcopy(network)
    path, arrays = Path(f"{which}_{seed}.safetensors"), weights.network_arrays(network)
    weights.save_network(path, arrays, "tic_tac_toe", vars(shape), {})


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
