"""Let language models play and analyse: a server of the Model Context Protocol on standard input
and output, which a client such as an editor starts. docs/engine.md describes its tools.

    alphazero mcp
    alphazero mcp player=checkpoints/connect_four/RUN num_simulations=2000
"""

import contextlib
import dataclasses
import json
import sys
from typing import Any

from alphazero.cli.engine import Settings, make_engine
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import Engine
from alphazero.runtime.console import Console
from alphazero.runtime.errors import require

#: The tools: name -> player (None is the one of the settings), and what a model reads about it.
_TOOLS = {
    "legal_moves": ("random", "Draw a position and list the legal moves. The move is a random one"),
    "analyse": (None, "Search for the best move; the value, -1 to 1, is for the player to move"),
    "exact_scores": ("solver", "Score each move under perfect play: positive wins, negative loses"),
}
_ARGUMENTS = """. Games are tic_tac_toe, connect_four, connect_x:ROWSxCOLUMNSxLENGTH, othello (8x8),
othello:SIZE and gomoku:ROWSxCOLUMNSxLENGTH. `moves` are those since the start of the game: columns,
or squares row by row, from 0. To play a move, append it. A finished game has a result: 1 if the
first player won, 0 drawn, -1 lost.
"""


def run(settings: Settings, console: Console) -> None:
    """Answer the calls of a client until it closes standard input.

    Raises:
        ConfigError: if the player or the game does not exist, or the package `mcp` is missing.
    """
    require("mcp", "mcp")
    from mcp.server import MCPServer

    server = MCPServer("alphazero", log_level="WARNING")
    with contextlib.redirect_stdout(sys.stderr):  # standard output is the protocol's
        for name, (player, text) in _TOOLS.items():
            own = dataclasses.replace(settings, player=player or settings.player)
            server.add_tool(_tool(make_engine(own)), name=name, description=text + _ARGUMENTS)
    if sys.stdin is not None:  # it is None if it was closed before the start
        server.run()


def _tool(engine: Engine) -> Any:
    """Return a tool that asks an engine; as a coroutine, it never overlaps another."""

    async def ask(
        game: str, moves: list[Any] | str, num_simulations: int | None = None
    ) -> dict[str, Any]:
        request = {"game": game, "moves": moves, "num_simulations": num_simulations}
        answer = engine.answer(json.dumps(request))
        if "error" in answer:
            return answer
        rules = make_game(game)  # which the engine has accepted, with these moves
        state = rules.play_moves(moves)  # type: ignore[arg-type]
        return answer | {"board": rules.state_to_text(state)}

    return ask
