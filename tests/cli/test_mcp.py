"""`alphazero mcp`, started and asked by the client of the package `mcp`."""

import os
import sys
from pathlib import Path

import pytest

from alphazero.cli import main

ROOT = Path(__file__).parents[2]
START = {"game": "tic_tac_toe", "moves": [0, 1]}


def answers_of(calls, *arguments):
    """Start the server, make calls, and return the names of its tools and the answers."""
    anyio = pytest.importorskip("anyio")
    client = pytest.importorskip("mcp.client", reason="the extra [mcp] is not installed")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    found = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "alphazero", "mcp", *arguments],
        env=os.environ | {"PYTHONPATH": found},
    )

    async def ask():
        async with client.Client(stdio_client(server)) as session:
            names = {tool.name for tool in (await session.list_tools()).tools}
            called = [await session.call_tool(name, arguments) for name, arguments in calls]
            return names, [one.structured_content for one in called]

    return anyio.run(ask)


@pytest.mark.slow  # a client, a server and a solver
def test_a_client_gets_legal_moves_analyses_and_exact_scores():
    finished = {"game": "tic_tac_toe", "moves": [0, 3, 1, 4, 2]}
    names, (legal, best, few, exact, over, code, *wrong) = answers_of(
        [
            ("legal_moves", START),
            ("analyse", START | {"num_simulations": 3000}),
            ("analyse", START),
            ("exact_scores", START),
            ("legal_moves", finished),
            ("legal_moves", START | {"game": "examples/snort.py"}),
            ("analyse", START | {"moves": [9]}),
            ("analyse", START | {"moves": ["b2"]}),
            ("analyse", START | {"moves": "5"}),
            ("legal_moves", START | {"moves": [3.5]}),
        ],
        "player=uct",
        "num_simulations=5",
    )
    assert names == {"legal_moves", "analyse", "exact_scores"}
    assert legal["legal_actions"] == [*range(2, 9)] and legal["board"].startswith("XO.")
    assert exact["scores"][:2] == [None, None] and exact["scores"][exact["move"]] > 0
    assert sum(best["action_weights"]) == pytest.approx(1, abs=1e-4)
    assert {round(5 * weight, 4) % 1 for weight in few["action_weights"]} == {0}
    assert best["action_weights"] != few["action_weights"]
    assert over["result"] == 1 and over["legal_actions"] == []
    assert [set(answer) for answer in (code, *wrong)] == [{"error"}] * 5
    assert not any("\n" in answer["error"] for answer in wrong)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp"]) == 2
    assert "[mcp]" in capsys.readouterr().err
