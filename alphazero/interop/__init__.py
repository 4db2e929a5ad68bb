"""Exports: our players and games in PettingZoo and OpenSpiel, our networks in other programs.

In PettingZoo, an optional package:

    environments    our games as AEC environments; any environment by its name
    board_view      our state of the position that an environment shows an agent
    agents          our players and people as agents in an environment
    episode         games between two agents by the environment's rules

In OpenSpiel, an optional package:

    open_spiel_bot  our players as bots

Networks as files, `alphazero export`:

    onnx_file           an ONNX file
    kaggle_submission   a submission to Kaggle's ConnectX
    kaggle_agent        the source of that submission, which needs only numpy
    export_agreement    compares a file's answers with the network's

`alphazero.own_games.adapters` is the other direction: games of these libraries, to train on.
"""
