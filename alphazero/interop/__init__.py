"""Use this package's players in PettingZoo, and export its networks.

For PettingZoo, an optional package:

    board_view      converts an agent's observation to a state of this package's game
    agents          players of this package, and people, as agents in an environment
    episode         games between two agents by the environment's rules

For `alphazero export`, which writes networks as files:

    onnx_file           an ONNX file
    kaggle_submission   a submission to Kaggle's ConnectX
    kaggle_agent        the source of that submission, which needs only numpy
    export_agreement    compares the outputs of an exported file with those of the network

`alphazero.own_games.adapters` works in the other direction: it loads games from these libraries.
"""
