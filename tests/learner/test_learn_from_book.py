"""Tests of `scripts/learn_from_book.py`."""

import re

import learn_from_book
import numpy as np

from alphazero.own_games.registry import make_game
from alphazero.solvers.registry import make_solver


def test_its_positions_have_twelve_discs_and_the_results_of_the_solver(monkeypatch):
    monkeypatch.setattr(learn_from_book, "_NUM_GAMES", 20_000)
    game = make_game("connect_four")
    states, results = learn_from_book.positions(game, np.random.default_rng(1))
    planes = game.observe(states)
    assert (planes[:, :2].sum(axis=(1, 2, 3)) == 12).all()
    apart = {min(board.tobytes(), board[:, :, ::-1].tobytes()) for board in planes}
    assert 5_000 < len(states) == len(results) == len(apart)  # no two alike or mirrored
    scores = make_solver(game).scores(states[:4])
    assert results[:4].tolist() == np.sign(scores.max(axis=1)).tolist()


def test_it_says_how_well_a_new_network_and_another_know_the_results(monkeypatch, capsys):
    monkeypatch.setattr(learn_from_book, "_NUM_GAMES", 6_000)
    monkeypatch.setattr(learn_from_book, "_NUM_HELD_OUT", 500)
    settings = ["network=patterns", "network.channels=8", "network.shared_units=32"]
    assert learn_from_book.main(["3", *settings, "--networks", "best"]) == 0
    found = re.findall(r"(.+): ([\d.]+)% of the results", capsys.readouterr().out)
    shares = {name: float(percent) for name, percent in found}
    assert shares["best"] > 70 > shares["new network"] > 5


def test_a_wrong_setting_is_named(capsys):
    assert learn_from_book.main(["3", "network.chanels=8"]) == 2
    assert "network.channels" in capsys.readouterr().err
