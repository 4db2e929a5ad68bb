"""AlphaZero self-play training, from rules to a player that people can meet.

In the order of the data flow:

    config, jit, rng        settings with ranges, compiled kernels, named random generators
    games/                  rules (scalar, compiled) and the batched view that everything else uses
    records                 what one finished game leaves behind
    search/                 PUCT for many games in lockstep; UCT with random rollouts, the baseline
    evaluator               the seam between search and network
    network                 the policy/value network, a pure function of tensors
    engines/                ways to run it fast: torch, OpenVINO, CUDA graphs; how far each is from the reference
    network_evaluator       an engine held to the reference, behind evaluation_cache
    selfplay                games in lockstep, an unending stream of records; parallel_selfplay runs one on each core
    replay                  a growing window of raw positions, batches under random symmetries (symmetric_rows)
    learner                 batches in, better weights out; loss has its gradients, baseline what knowing nothing loses, optimizers the steps
                            (muon for kernels), weight_average what plays, memory keeps what is freed
    checkpoint, run_folder  files that are never half written, and where they lie
    shipped_networks        networks that are there without training, the player `best`; network_card says how one was made
    players, arena          choosers of moves, and paired matches between them; exact/ plays perfectly and proves them
    rating, sprt            how strong many players are, and when a match is decided; tournament plays where it tells most
    tuning                  what is left to auto, by a short measurement
    health                  alarms when a run goes wrong; symptoms has each with its limits, cause and cure
    training                the loop that knows all of the above; it yields events to sinks/
    play/, interop/         the terminal, the JSON engine, PettingZoo
    cli/                    the console command `alphazero`
"""

import os

# OpenMP's threads wait for each other after each layer of the learner's step. How long they spin before they sleep decides: always (the default) is 20 to 30
# times slower beside another program on the same cores, never takes 1.4 times as long on a quiet machine, about a thousand turns is as fast as the
# one here and as the other there (two cores, 4 x 48 network, 256 rows: 30 ms quiet, 95 ms with one core taken). libgomp reads this when
# torch is first imported, hence here; other OpenMP libraries heed only the first.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
