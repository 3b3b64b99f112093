import subprocess
import sys

import pytest

from monitor import __version__, cli
from monitor.__main__ import main


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "monitor", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"monitor {__version__}\n")


def test_an_early_interruption_ends_without_a_traceback(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
