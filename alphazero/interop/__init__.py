"""PettingZoo: our games as environments of it, and our players as agents in its own environments. PettingZoo is an optional package.

    environments  our games as AEC environments; any environment by its name
    board_view    how a board is read from what an environment shows an agent
    agents        who acts in an environment: any of our players, or a person
    episode       games between two agents, by the environment's own rules
    board_image   a board as an RGB image

The other direction, an environment's rules as a game that can be searched and trained on, is `alphazero.games.pettingzoo_game`.
"""
