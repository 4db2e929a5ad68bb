"""A process that has imported and compiled everything, and forks a child for each case.

In: requests, one line of JSON each, on standard input. Out: one line of JSON for each on standard
output. `harness.py` starts it and documents the requests. It has one thread only: a child of a
process with more could wait for a lock that nobody releases.
"""

import contextlib
import ctypes
import faulthandler
import gc
import importlib
import io
import json
import os
import resource
import select
import signal
import sys
import threading
import traceback
import types
from pathlib import Path

for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import shim  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)
torch.set_num_interop_threads(1)

from unmeasured import patch_measurements  # noqa: E402

import alphazero.cli  # noqa: E402
import alphazero.cli.train  # noqa: E402
import alphazero.training.loggers.tensorboard  # noqa: E402, F401

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # a child is killed when its parent ends


def serve(requests, answers):
    """Answer requests until there are no more."""
    ends = {}  # pid -> status, of children that were waited for
    for line in requests:
        request = json.loads(line)
        if request["do"] == "warm":
            answer = warm(request)
        elif request["do"] == "start":
            pid = os.fork()
            if pid == 0:
                run_child(request, (requests, answers))
            answer = {"pid": pid}
            ends[pid] = None
        else:
            answer = wait(request["pid"], request["timeout_s"])
            ends.pop(request["pid"], None)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    for pid in ends:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def warm(request):
    """Run a command in this process, so that children find what it imports and compiles."""
    os.chdir(request["cwd"])
    status = run(request)
    gc.collect()  # ends the threads of pools that nobody uses any more
    tasks = Path("/proc/self/task")
    threads = [(task / "comm").read_text().strip() for task in tasks.iterdir()]
    threads += [thread.name for thread in threading.enumerate()]
    gc.freeze()  # children then copy less
    return {"status": status, "threads": threads}


def wait(pid, timeout_s):
    """Return how a child ended; one that hangs shows where it is, and is killed."""
    hung = False
    descriptor = os.pidfd_open(pid)
    if not select.select([descriptor], [], [], timeout_s)[0]:
        hung = True
        os.kill(pid, signal.SIGABRT)  # faulthandler prints the stack
        if not select.select([descriptor], [], [], 5)[0]:
            os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    os.close(descriptor)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what the child started
    cpu_s = usage.ru_utime + usage.ru_stime
    return {"status": os.waitstatus_to_exitcode(status), "hung": hung, "cpu_s": cpu_s}


def run_child(request, files):
    """Be a child: run the request and end."""
    os.setpgid(0, 0)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for file in files:
        file.detach()
    out = os.open(request["stdout"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    err = os.open(request["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        open(2, "wb", 0, closefd=False), encoding="utf-8", write_through=True
    )
    faulthandler.enable(sys.stderr)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(request["cwd"])
    os.environ.update(request["env"])
    counter = None
    if request["fault"] is not None:
        counter = shim.install(shim.Fault(**request["fault"]))
    try:
        status = run(request)
    except SystemExit as exit:
        status = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    if counter is not None:
        text = json.dumps(counter.operations)
        descriptor = os.open(request["operations"], os.O_WRONLY | os.O_CREAT, 0o666)
        with io.FileIO(descriptor, "w") as file:
            file.write(text.encode())
    os._exit(status)


def run(request):
    """Call the function of a request with its words; return the exit status."""
    module, _, function = request["call"].partition(":")
    sys.argv = ["alphazero", *request["words"]]
    status = getattr(importlib.import_module(module), function)(list(request["words"]))
    return status if isinstance(status, int) else 0


def main():
    requests = os.fdopen(os.dup(0), "r")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what `warm` prints is no answer
    patch_measurements(types.SimpleNamespace(setattr=setattr))
    answers.write("{}\n")  # ready
    answers.flush()
    serve(requests, answers)
    os._exit(0)


if __name__ == "__main__":
    main()
