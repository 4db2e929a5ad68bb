"""The settings of a PUCT search, in a module of their own that imports no compiled kernels."""

import dataclasses

from alphazero.config.settings import option


@dataclasses.dataclass
class SearchSettings:
    """The settings of a PUCT search: exploration, root noise, root algorithm and tree reuse.

    `alphazero.search.puct` and `alphazero.search.gumbel` have the formulas.
    """

    pb_c_init: float = option(
        1.25, "PUCT's exploration constant, for values in [-1, 1] (AlphaZero: 1.25)", low=0.0
    )
    pb_c_base: float = option(
        19652.0,
        "PUCT: visits at which exploration starts to grow (AlphaZero: 19652); 1e30 keeps it "
        "constant (AlphaGo Zero)",
        low=1.0,
    )
    first_play_value: str = option(
        "parent",
        "base value of an unvisited move: its parent's mean value, or 0, the value of a draw "
        "(AlphaGo Zero: zero)",
        choices=("parent", "zero"),
    )
    first_play_urgency: float = option(
        0.25, "value of an unvisited move: first_play_value - this * sqrt(visited prior)", low=0.0
    )
    root_first_play_urgency: float = option(0.0, "first_play_urgency at the root", low=0.0)
    dirichlet_alpha: float = option(
        1.0,
        "concentration of the Dirichlet noise at the root (AlphaZero: 0.3 for chess, 0.03 for Go)",
        low=1e-3,
    )
    dirichlet_alpha_per_move: bool = option(
        False, "divide dirichlet_alpha by the number of legal moves (alpha is then usually 10)"
    )
    dirichlet_fraction: float = option(
        0.25, "fraction of noise in the root's priors; 0 disables it (AlphaZero: 0.25)", 0.0, 1.0
    )
    root_prior_temperature: float = option(
        1.0, "temperature of the root's priors in self-play (KataGo: 1.25)", 0.1, 10.0
    )
    mcts_solver: bool = option(
        True,
        "carry the exact results of finished games up the tree, which ends proven searches early "
        "(MCTS-Solver; AlphaZero: false)",
    )
    reuse_tree: bool = option(True, "keep the subtree of the move played")
    count_kept_visits: bool = option(
        True,
        "count the visits of a kept subtree as simulations; false runs num_simulations new ones",
    )
    forced_playouts_k: float = option(
        0.0, "forced playouts in self-play; 0 disables them (KataGo: 2)", 0.0, 100.0
    )
    root: str = option(
        "puct",
        "root algorithm of self-play and of players; gumbel is sequential halving",
        choices=("puct", "gumbel"),
    )
    gumbel_scale: float = option(
        1.0, "scale of the Gumbel noise in self-play with root=gumbel (paper: 1)", 0.0, 10.0
    )
    max_num_considered_actions: int = option(
        16, "maximum moves considered at a Gumbel root (paper: 16)", low=1
    )
    value_scale: float = option(
        0.1, "Gumbel root: sigma(q) = value_scale * (maxvisit_init + most visits) * q", 0.0, 100.0
    )
    maxvisit_init: float = option(50.0, "see value_scale (paper: 50)", low=0.0)
