"""Real processes in one folder, and real deaths."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from monitor.checkpoint.folder import Folder

CLAIM = """
import sys
from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder

folder = Folder(sys.argv[1], "monitor")
sys.stdin.readline()
for _ in range(40):
    epoch = folder.claim()
    print(epoch)
    try:
        folder.write(epoch, 1, {})
    except CheckpointError:  # a successor removed the unfinished file
        assert not folder.is_highest(epoch)
"""

WRITE = """
import itertools, os, sys
import numpy as np
from monitor.checkpoint.folder import Folder

def write(folder):
    epoch = folder.claim()
    restored = folder.newest(dict)
    value = restored.content["value"] if restored else 0
    for sequence in itertools.count(1):
        value += 1
        folder.write(epoch, sequence, {"value": value, "array": np.full(1 << 17, value)})
        print(value, flush=True)

for _ in sys.stdin:
    if child := os.fork():  # starting an interpreter for each would take longer than all the rest
        print("started", child, flush=True)
        os.waitpid(child, 0)
        print("dead", flush=True)
    else:
        write(Folder(sys.argv[1], "monitor"))
"""


def start(script: str, directory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Unbuffered, a line is several writes, between which others write or the writer dies.
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )


def test_no_epoch_is_claimed_twice(tmp_path):
    processes = [start(CLAIM, tmp_path) for _ in range(4)]
    for process in processes:
        print(file=process.stdin, flush=True)
    claimed = [[int(line) for line in process.communicate(timeout=60)[0].split()] for process in processes]
    assert all(epochs == sorted(epochs) and len(epochs) == 40 for epochs in claimed)
    everything = [epoch for epochs in claimed for epoch in epochs]
    assert len(set(everything)) == len(everything)
    folder = Folder(tmp_path, "monitor")
    assert folder.claim() == max(everything) + 1
    restored = folder.newest(dict)
    assert restored.path.name == f"checkpoint-{max(everything)}-1"
    assert not restored.problems
    assert all(process.returncode == 0 for process in processes)


def test_a_file_can_be_read_whenever_the_writer_is_killed(tmp_path):
    chance = random.Random(0)
    folder = Folder(tmp_path, "monitor")
    value = 0
    with start(WRITE, tmp_path) as process:
        for _ in range(20):
            print(file=process.stdin, flush=True)
            lines = [process.stdout.readline().split()]
            while len({len(line) for line in lines}) < 2:  # who writes, and a number, in either order
                lines.append(process.stdout.readline().split())
            [child] = [line[1] for line in lines if line[0] == "started"]
            time.sleep(chance.uniform(0, 0.05))
            os.kill(int(child), signal.SIGKILL)
            lines += iter(lambda: process.stdout.readline().split(), ["dead"])
            reported = max(int(line[0]) for line in lines if len(line) == 1)
            assert reported > value
            restored = folder.newest(dict)
            assert not restored.problems
            value = restored.content["value"]
            assert value in (reported, reported + 1)
            assert (restored.content["array"] == value).all()
        process.stdin.close()
    folder.write(folder.claim(), 1, {})
    assert sorted(path.name.partition("-")[0] for path in folder.path.iterdir()) == [
        "checkpoint",
        "checkpoint",
        "epoch",
    ]
