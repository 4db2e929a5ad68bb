"""Players whose batches are divided among the nodes of a Ray cluster."""

import io
import json
import os
import signal
import sys

import numpy as np
import pytest
from game_samples import random_games
from rich.console import Console

from alphazero.cli import match
from alphazero.cli.command import run_command
from alphazero.evaluation.match import Openings, play_match
from alphazero.games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError

GAME = make_game("tic_tac_toe")
NETWORK = PlayerSettings(num_simulations=8, engine="torch", precision="float32")


@pytest.fixture(scope="module")
def nodes():
    """Connect this process to a Ray cluster of two nodes on this machine; return its address."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster.address
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def shared(nodes):
    """Return actors that several tests use."""
    from alphazero.workers.cluster.player_cluster import PlayerCluster

    cluster = PlayerCluster("auto")
    yield cluster
    cluster.close()


def divided(cluster, spec, settings=None):
    """Return a player on a cluster."""
    from alphazero.workers.cluster.cluster_player import make_cluster_player

    return make_cluster_player(cluster, spec, GAME, settings)


def positions():
    """Return unfinished positions, more than one node's smallest part."""
    plies, _ = random_games(GAME, 12, seed=3)
    return np.concatenate([ply.states for ply in plies])


def process_of(worker) -> int:
    import ray

    return ray.get(worker.actor.__ray_call__.remote(lambda _: os.getpid()))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 0])
def test_rows_come_back_in_order(shared, limit):
    local, player = make_player("best", GAME, NETWORK), divided(shared, "best", NETWORK)
    if limit is not None:
        local, player = local.limited(limit), player.limited(limit)
    asked = []
    find, shared._ask = shared._ask, lambda *words: asked.extend(find(*words)) or asked
    try:
        found = player.choose(positions())
    finally:
        del shared._ask
    assert len({part.worker for part in asked}) == 2
    for column, expected in zip(found, local.choose(positions())):
        np.testing.assert_array_equal(column, expected)
    assert (player.name, player.engine, player.method) == (local.name, local.engine, local.method)


@pytest.mark.slow
def test_uct_wins_against_random(shared):
    uct, other = divided(shared, "uct:50"), divided(shared, "random")
    report = play_match(GAME, uct, other, 40, Openings(0))
    assert len(report.games) == 40 and report.score > 0.7
    assert uct.batch_size > 1
    again = divided(shared, "uct:50,seed=3").choose(GAME.initial_states(32)).values
    assert len(np.unique(again[:16])) > 1 and set(again[:16]) != set(again[16:])  # own seeds


@pytest.mark.slow
def test_a_killed_actor_does_not_change_the_match(shared, capsys):
    specs = ("best", "best,with_search=false")
    expected = play_match(GAME, *(make_player(spec, GAME, NETWORK) for spec in specs), 40)
    players = [divided(shared, spec, NETWORK) for spec in specs]
    shared._started()
    processes = {worker.name: process_of(worker) for worker in shared._workers}
    ask = shared._ask

    def ask_and_kill(*words):
        yield from ask(*words)
        if processes:  # they have been asked
            os.kill(processes.popitem()[1], signal.SIGKILL)
            processes.clear()

    shared._ask = ask_and_kill
    found = play_match(GAME, *players, 40)
    assert found.games == expected.games
    assert len(shared._workers) == 1
    assert capsys.readouterr().err.count("is gone") == 1
    os.kill(process_of(shared._workers[0]), signal.SIGKILL)
    assert play_match(GAME, *players, 40).games == expected.games
    assert not shared._workers  # this process plays alone


@pytest.mark.slow
def test_the_command_plays_on_the_nodes_of_a_cluster(nodes, tmp_path, capsys):
    path = tmp_path / "match.json"
    words = ["game=tic_tac_toe", "a=uct:30", "b=random", "num_games=20", f"json={path}"]
    console = Console(file=io.StringIO(), width=100)
    assert run_command(match, [*words, "workers=ray", f"address={nodes}"], console) == 0
    assert len(json.loads(path.read_text())["games"]) == 20
    assert "2 nodes" in capsys.readouterr().err


@pytest.mark.slow
def test_an_actor_of_another_version_is_refused(nodes, capsys, monkeypatch):
    from alphazero.workers.cluster import player_cluster

    monkeypatch.setattr(player_cluster, "code_version", lambda: "0.0 (another)")
    cluster = player_cluster.PlayerCluster("auto")
    found = divided(cluster, "uct:20").choose(GAME.initial_states(3))
    cluster.close()
    assert len(found.actions) == 3 and not cluster._workers
    assert capsys.readouterr().err.count("0.0 (another)") == 2


@pytest.mark.parametrize(
    "spec", ["random", "solver", "uct:20,time_limit_s=1", "uct:20,statistics=position,keep_table=1"]
)
def test_players_that_cannot_be_divided_stay_here(spec, capsys):
    pytest.importorskip("ray", reason="Ray is not installed")
    player = divided(None, spec)
    assert type(player) is type(make_player(spec, GAME))
    assert spec in capsys.readouterr().err


@pytest.mark.parametrize(
    ("num_rows", "threads", "smallest", "expected"),
    [
        (12, [4, 8], 1, [4, 8]),
        (7, [1, 1], 1, [4, 3]),
        (15, [1, 1], 8, [15, 0]),
        (40, [8, 1, 64], 8, [0, 0, 40]),
        (100, [8, 1, 16], 8, [33, 0, 67]),
        (1, [2, 3], 1, [0, 1]),
    ],
)
def test_rows_are_divided_in_proportion_to_threads(num_rows, threads, smallest, expected):
    pytest.importorskip("ray", reason="Ray is not installed")
    from alphazero.workers.cluster.player_cluster import shares

    assert shares(num_rows, threads, smallest) == expected


def test_without_ray_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError) as refused:
        run_command(match, ["game=tic_tac_toe", "a=uct:30", "b=random", "workers=ray"])
    assert refused.value.key == "workers" and "[cluster]" in str(refused.value)
