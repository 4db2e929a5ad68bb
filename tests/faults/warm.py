"""What a child of the tests finds done already: imports, compiled kernels, a small training."""

import os
import tempfile
import types

for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{name}_NUM_THREADS"] = "1"  # a child of threads could wait for a lock for ever
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch  # noqa: E402

torch.set_num_threads(1)
torch.set_num_interop_threads(1)

from stored_runs import SMALLEST  # noqa: E402
from unmeasured import patch_measurements  # noqa: E402

from alphazero.cli import main  # noqa: E402

patch_measurements(types.SimpleNamespace(setattr=setattr))
with tempfile.TemporaryDirectory() as root:
    main(["train", *SMALLEST, f"run.root={root}", "run.name=warm", "run.num_iterations=2"])
