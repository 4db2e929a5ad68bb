#!/usr/bin/env bash
# Measure this project on an NVIDIA GPU: under four minutes on an H200 with 16 cores.
#
#     scripts/gpu_report.sh                  # all parts, or some: threads search learner pgx_mctx
#
# `search` needs numba-cuda; `pgx_mctx` needs mctx, pgx and JAX. docs/performance.md has results.
# The environment variable PYTHON chooses the interpreter.
set -uo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH="$PWD:$PWD/scripts${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
export XLA_PYTHON_CLIENT_PREALLOCATE=false PYTHONWARNINGS=ignore
python=${PYTHON:-python3}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 1
failed=0
for part in "${@:-threads search learner pgx_mctx}"; do
    for name in $part; do
        echo "== $name"
        timeout 180 "$python" "scripts/gpu_report/$name.py" || { echo "$name failed"; failed=1; }
    done
done
exit $failed
