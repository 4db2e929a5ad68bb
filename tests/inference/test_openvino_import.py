"""OpenVINO is imported without sending anything, also while another thread reads."""

import subprocess
import sys

import pytest

pytest.importorskip("openvino")

PROGRAM = """
import multiprocessing, sys, threading

def fork(*_, **__):
    print("forked")

multiprocessing.Process = multiprocessing.context.ForkProcess.start = fork
def load():
    import alphazero.inference.engines.openvino_engine as engine
    print("loaded", engine.openvino.__name__, flush=True)
threading.Thread(target=load).start()
sys.stdin.readline()
"""


@pytest.mark.slow
def test_the_import_starts_no_process_while_standard_input_is_read(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdout.readline() == "loaded openvino\n"
    rest, _ = process.communicate("\n", timeout=60)
    assert process.returncode == 0 and rest == ""
