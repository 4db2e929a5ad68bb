"""Ways out: our players and games in PettingZoo and OpenSpiel, our networks in other programs.

In PettingZoo, an optional package:

    environments    our games as AEC environments; any environment by its name
    board_view      which board of ours an environment shows an agent
    agents          what acts in an environment: one of our players, or a person
    episode         games between two agents, by the environment's rules

In OpenSpiel, an optional package:

    open_spiel_bot  our players as bots

Networks as files, `alphazero export`:

    onnx_file           an ONNX file
    kaggle_submission   a submission to Kaggle's ConnectX
    kaggle_agent        how that plays: its source, which needs nothing but numpy
    export_agreement    whether a file gives the network's answers

The other direction, their games to search and to train on, is `alphazero.own_games.adapters`.
"""
