#!/usr/bin/env bash
# Train by a recipe on an NVIDIA GPU, and measure the network: about seven minutes for Connect Four.
#
#     scripts/gpu_train.sh                                 # experiment=connect_four_gpu
#     scripts/gpu_train.sh experiment=othello_gpu seed=2   # or others of `alphazero train`
#
# The run is stored in $RUNS/GAME/$NAME (default: checkpoints/GAME/gpu). SET names a file of fresh
# positions (scripts/make_evaluation_set.py), PYTHON the interpreter. gpu.csv in the current folder
# has the use of the GPU in every second.
set -uo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
python=${PYTHON:-python3} runs=${RUNS:-checkpoints} name=${NAME:-gpu}
[ $# -gt 0 ] || set -- experiment=connect_four_gpu
if command -v nvidia-smi > /dev/null; then
    nvidia-smi --query-gpu=timestamp,name,utilization.gpu,memory.used --format=csv -l 1 > gpu.csv &
    trap "kill $!" EXIT
fi
"$python" -m alphazero train run.root="$runs" run.name="$name" \
    evaluation.final_num_games=0 "$@" || exit 1
run=$(ls -td "$runs"/*/"$name" | head -1)
if [ -s gpu.csv ]; then
    awk -F, 'NR > 1 { sum += $3 } END { printf "mean use of the GPU: %.0f %%\n", sum / (NR - 1) }' \
        gpu.csv
fi
"$python" -m alphazero evaluate player="$run" ${SET:+set="$SET"}
