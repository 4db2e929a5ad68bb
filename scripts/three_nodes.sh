#!/usr/bin/env bash
# Try out a Ray cluster on one machine: three nodes of one core each, with a token.
#
#     scripts/three_nodes.sh start       # then train with the two variables that it prints
#     scripts/three_nodes.sh add         # one more node, also during a run
#     scripts/three_nodes.sh stop        # ends every Ray process of this user on this machine
#
# On real machines, each of the `ray start` commands below runs on a separate machine, with the same
# token: docs/CLUSTER.md.
set -euo pipefail
port=${PORT:-6390}
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=${RAY_AUTH_TOKEN_PATH:-$PWD/build/ray_token}

usage="usage: scripts/three_nodes.sh start|add|stop ('stop' ends every Ray process of this user)"

require_ray() {
    command -v ray > /dev/null && return
    echo "The 'ray' command was not found: pip install 'alphazero-selfplay[cluster]' (in a clone," \
        "pip install -e '.[cluster]'), and activate that environment." >&2
    exit 1
}

node() { ray start "$@" --num-cpus=1 --disable-usage-stats > /dev/null; }

case "${1:-}" in
start)
    require_ray
    mkdir -p "$(dirname "$RAY_AUTH_TOKEN_PATH")"
    (umask 077 && python3 -c 'import secrets; print(secrets.token_hex(32))' > "$RAY_AUTH_TOKEN_PATH")
    node --head --port="$port" --include-dashboard=false
    node --address="127.0.0.1:$port"
    node --address="127.0.0.1:$port"
    echo "Three nodes are up. Train on them with:"
    echo "    export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$RAY_AUTH_TOKEN_PATH"
    echo "    alphazero train game=connect_four workers=ray workers.address=127.0.0.1:$port"
    ;;
add)
    require_ray
    node --address="127.0.0.1:$port"
    echo "One more node is up."
    ;;
stop)
    require_ray
    ray stop > /dev/null
    echo "Every Ray process of this user on this machine has ended."
    ;;
-h | --help) echo "$usage" ;;
*)
    echo "$usage" >&2
    exit 2
    ;;
esac
