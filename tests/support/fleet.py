"""Many commands at once: each in a process of its own, forked from one that has imported everything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tests.support.commands import Done

_SERVE = "from tests.support.fleet import serve; serve()"


class Command(NamedTuple):
    """One command line, with variables of its environment."""

    arguments: Sequence[str]
    environment: Mapping[str, str] = {}


def run_all(commands: Mapping[str, Command], at_once: int = 20, seconds: float = 60) -> dict[str, Done]:
    """Run commands, each for some seconds at most; return what they left."""
    listed = {
        name: [list(map(str, command.arguments)), dict(command.environment)]
        for name, command in commands.items()
    }
    order = json.dumps({"commands": listed, "at_once": at_once, "seconds": seconds})
    done = subprocess.run(
        [sys.executable, "-c", _SERVE],
        input=order,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    return {name: Done(*found) for name, found in json.loads(done.stdout).items()}


def serve() -> None:
    """Run what stands on standard input, and write what came of it to standard output."""
    import monitor.daemon
    import monitor.describe
    import monitor.doctor
    import monitor.exports
    import monitor.sources.probe  # noqa: F401

    order = json.load(sys.stdin)
    waiting = dict(order["commands"])
    running: dict[int, str] = {}
    results: dict[str, tuple[int, str, str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        deadlines: dict[int, float] = {}
        while waiting or running:
            while waiting and len(running) < order["at_once"]:
                command = next(iter(waiting))
                pid = _start(*waiting.pop(command), folder / command)
                running[pid] = command
                deadlines[pid] = time.monotonic() + order["seconds"]
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended:
                command = running.pop(ended)
                out, err = ((folder / f"{command}.{stream}").read_text() for stream in ("out", "err"))
                results[command] = (os.waitstatus_to_exitcode(status), out, err)
                continue
            for pid in running:
                if time.monotonic() > deadlines[pid]:
                    os.kill(pid, 9)
            time.sleep(0.02)
    json.dump(results, sys.stdout)


def _start(arguments: list[str], environment: dict[str, str], path: Path) -> int:
    pid = os.fork()
    if pid == 0:
        become(arguments, environment, out=f"{path}.out", err=f"{path}.err")
    return pid


def become(arguments: list[str], environment: Mapping[str, str], out: str, err: str) -> NoReturn:
    """Run a command line in this process, which was forked for it; what it prints is appended to files."""
    from monitor.cli import main

    code: Any = 1
    try:
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
        os.environ.update(environment)
        sys.argv = ["monitor", *arguments]
        code = 0
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)
