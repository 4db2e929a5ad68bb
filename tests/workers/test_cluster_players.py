"""Players on the nodes of a Ray cluster, which play whole pairs of games."""

import io
import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from game_samples import random_games
from rich.console import Console

from alphazero.cli import match
from alphazero.cli.command import run_command
from alphazero.evaluation.match import Openings, play_match
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.gtp import GtpPlayer
from alphazero.players.registry import make_player
from alphazero.players.solver import SolverPlayer
from alphazero.players.uct import UctPlayer
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


@pytest.fixture
def shared(nodes):
    """Return the cluster to which this process is connected."""
    from alphazero.workers.cluster.players import PlayerCluster

    return PlayerCluster("auto")


@pytest.fixture
def alone():
    """Return what does all parts in this process."""
    pytest.importorskip("ray", reason="Ray is not installed")

    def run(do, parts, *recipes):
        return (do(*part, *recipes) for part in parts)

    return SimpleNamespace(num_cores=1, run=run)


def on(cluster, spec, settings=None):
    """Return a player on a cluster."""
    from alphazero.workers.cluster.players import make_cluster_player

    return make_cluster_player(cluster, spec, GAME, settings)


def played(cluster, specs, settings=None, num_games=40, **options):
    """Return the report of a match."""
    players = [on(cluster, spec, settings) for spec in specs]
    return play_match(GAME, *players, num_games, Openings(2), **options)


def positions():
    """Return unfinished positions, more than one node's part."""
    plies, _ = random_games(GAME, 12, seed=3)
    return np.concatenate([ply.states for ply in plies])


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 0])
def test_rows_come_back_in_order(shared, limit):
    local, player = make_player("best", GAME, NETWORK), on(shared, "best", NETWORK)
    if limit is not None:
        local, player = local.limited(limit), player.limited(limit)
    for column, expected in zip(player.choose(positions()), local.choose(positions())):
        np.testing.assert_allclose(column, expected, atol=1e-5)  # batches differ in size
    assert (player.name, player.engine, player.method) == (local.name, local.engine, local.method)
    assert shared.num_cores == 2


@pytest.mark.parametrize("specs", [("uct:30", "random"), ("uct:90,time_limit_s=9", "uct:5")])
def test_players_without_a_network_play_pairs(alone, specs):
    found = played(alone, specs)
    assert len(found.games) == 40 and found.score > 0.6
    assert found.games == played(alone, specs).games  # seeds are those of the pairs
    assert len({game.moves for game in found.games}) > 30


def test_positions_of_one_question_have_own_random_numbers(alone):
    values = on(alone, "uct:50,seed=3").choose(GAME.initial_states(32)).values
    assert len(np.unique(values)) > 10
    assert set(values[:8]) != set(values[8:16])


def test_pairs_are_counted_in_order_and_a_test_may_stop_the_match(alone):
    specs, seen = ("best", "uct:20"), []
    whole = played(alone, specs, NETWORK, 128, progress=seen.append)
    assert [game.pair_index for game in whole.games] == [index // 2 for index in range(128)]
    openings = [game.moves[:2] for game in whole.games]
    assert openings[::2] == openings[1::2] == Openings(2).sample(GAME, 64)
    assert seen[-1].num_finished == 128 and len(seen) < 64  # several pairs at a time
    stopped = played(alone, specs, NETWORK, 128, should_stop=lambda counts: sum(counts) == 7)
    assert stopped.games == whole.games[:14]


def test_a_player_here_meets_one_of_the_cluster(alone):
    report = play_match(GAME, on(alone, "uct:50"), make_player("random", GAME), 10)
    assert len(report.games) == 10


@pytest.mark.slow
def test_the_match_is_the_same_on_any_cluster_and_when_processes_are_killed(
    shared, alone, tmp_path, monkeypatch
):
    from alphazero.workers.cluster import players

    specs, play = ("uct:200", "uct:100"), players.play_part
    expected = played(alone, specs).games
    assert played(shared, specs).games == expected

    def die_at_first(seed, *arguments):
        part = tmp_path / seed
        if not part.exists():
            part.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return play(seed, *arguments)

    expected = played(alone, specs, num_games=4).games
    monkeypatch.setattr(players, "play_part", die_at_first)
    assert played(shared, specs, num_games=4).games == expected
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_the_command_plays_on_the_nodes_of_a_cluster(nodes, tmp_path, capsys):
    path = tmp_path / "match.json"
    words = ["game=tic_tac_toe", "a=uct:30", "b=random", "num_games=20", f"json={path}"]
    console = Console(file=io.StringIO(), width=100)
    assert run_command(match, [*words, "workers=ray", f"address={nodes}"], console) == 0
    assert len(json.loads(path.read_text())["games"]) == 20
    assert "2 nodes" in capsys.readouterr().err


@pytest.mark.slow
def test_a_machine_of_another_version_is_refused(shared, monkeypatch):
    from alphazero.workers.cluster import players

    monkeypatch.setattr(players, "code_version", lambda: "0.0 (another)")
    with pytest.raises(ConfigError) as refused:
        played(shared, ("uct:20", "random"), num_games=4)
    assert refused.value.allowed == "0.0 (another)"


@pytest.mark.slow
def test_an_error_of_a_player_is_raised_where_the_match_is_played(shared):
    player = on(shared, "uct:20")
    player.recipe = player.recipe._replace(kind="nobody")
    with pytest.raises(ConfigError):
        play_match(GAME, player, on(shared, "random"), 4)


@pytest.mark.parametrize(
    "spec",
    [
        "solver",
        "uct:20,statistics=position,keep_table=1",
        f"gtp:{sys.executable} {Path(__file__).parents[1] / 'gtp_engine.py'}",
    ],
)
def test_players_that_remember_positions_play_here_alone(spec, capsys):
    pytest.importorskip("ray", reason="Ray is not installed")
    from alphazero.workers.cluster.players import make_cluster_player

    player = make_cluster_player(None, spec, make_game("othello:6"))
    assert type(player) in (SolverPlayer, UctPlayer, GtpPlayer)
    assert spec in capsys.readouterr().err


def test_without_ray_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError) as refused:
        run_command(match, ["game=tic_tac_toe", "a=uct:30", "b=random", "workers=ray"])
    assert refused.value.key == "workers" and "[cluster]" in str(refused.value)
