"""Pictures of a model's page: Chromium over `monitor replay --serve`, and a log that the tests have.

`python docs/pictures/shoot.py` writes page.png, charts.png and timelines.png beside this file.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CONFIGURATION = ROOT / "docs/examples/car_loan.yaml"
LOG = ROOT / "tests/data/car_loan.parquet"
SIZE = {"width": 1200, "height": 835}


def shoot(address: str) -> None:
    """Take the first screen of the page, and sections further down."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, timezone_id="UTC")
        page.goto(f"{address}model?model=car_loan&window=last_1000", wait_until="networkidle")
        page.screenshot(path=HERE / "page.png")
        for section in ("charts", "timelines"):
            page.locator(f"#{section}").screenshot(path=HERE / f"{section}.png")
        browser.close()


def main() -> None:
    """Replay the log, and take the picture."""
    command = ["monitor", "replay", "-c", CONFIGURATION, LOG, "--serve"]
    with subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MONITOR__SERVER__PORT": "0"},
    ) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+/", process.stderr.readline())
        if found is None:
            sys.exit("the replay failed: run it by hand to see why")
        try:
            shoot(found[0])
        finally:
            process.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
