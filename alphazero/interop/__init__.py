"""Use this package's players in PettingZoo, and export its networks.

For PettingZoo, an optional package:

    board_view      converts an agent's observation to a state of this package's game
    agents          players of this package, and people, as agents; games between two agents

For `alphazero export`, which writes networks as files:

    onnx_file           an ONNX file
    kaggle_submission   a submission to Kaggle's ConnectX
    kaggle_agent        the source of that submission, which needs only numpy

`alphazero.own_games.adapters` works in the other direction: it loads games from these libraries.
"""
