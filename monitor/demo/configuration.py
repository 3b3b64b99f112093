"""The demo's monitor.yaml, as a user would write it."""

from __future__ import annotations

import socket
from pathlib import Path

TOPIC = "predictions.labeled"
DEAD_LETTER_TOPIC = "predictions.labeled.dead"
PARTITIONS = 2
MODEL = "breast-cancer"
WINDOW = "last_1000"
GOOD_VERSION = "2026-11-01"
BAD_VERSION = "2026-11-08"
ALERT = "RecallBelowFloor"
FLOOR = 0.8
ACTION = "rollback"
HOST = "127.0.0.1"
USUAL_PORT = 9464


def configuration(
    broker: str, port: int, state: Path, hook: str, secret_file: Path, act_token_file: Path
) -> str:
    """Return the text of the file.

    Parameters
    ----------
    broker
        The broker's address.
    port
        Of page and metrics.
    state
        Folder of checkpoints.
    hook
        Address that rollbacks are sent to.
    secret_file
        What they are signed with.
    act_token_file
        What people need to pause, silence and approve.
    """
    return f"""\
# What `monitor demo` watches. While it runs: monitor check, doctor and report take this file with -c.
kafka:
  bootstrap_servers: ["{broker}"]
  topics: [{TOPIC}]
  dead_letter_topic: {DEAD_LETTER_TOPIC}
  group_id: monitor-demo
  receive_message_max_bytes: 2147483647    # the embedded broker answers with all that it has
events:
  allowed_lateness: 2s    # alerts wait that long for events from the other partition
models:
  {MODEL}:
    task: binary
    classes: [benign, malignant]
    positive_class: malignant
    threshold: 0.5
    max_fpr: [0.05, 0.1]
    at_k: [100]
    costs: {{false_negative: 50, false_positive: 1}}    # a missed cancer, a needless biopsy
    windows:
      - {{name: {WINDOW}, events: 1000}}
      - {{name: 30s, duration: 30s}}
      - {{name: last_200_malignant, positives: 200}}
    segments: [site]
    label_maturity: 0s    # every label comes with its prediction
  digits:
    task: multiclass
    classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
    windows:
      - {{name: {WINDOW}, events: 1000}}
      - {{name: 30s, duration: 30s}}
evaluation: {{every: 2s}}
alerts:
  every: 2s
  no_data_after: 6s
  rules:
    {ALERT}:
      {{model: {MODEL}, metric: recall, class: malignant, floor: {FLOOR}, severity: page,
        actions: [{ACTION}]}}
    CalibrationDrift: {{model: {MODEL}, detector: calibration, tolerance: {{shift: 0.5, slope: 1.5}}}}
actions:
  {ACTION}: {{type: webhook, url: "{hook}", secret_file: "{secret_file}"}}
checkpoint: {{directory: "{state}", every: 10s}}
server: {{host: {HOST}, port: {port}, act_token_file: "{act_token_file}"}}
export: {{reliability: whole}}
"""


def free_port() -> int:
    """Return the usual port, or another one where that is taken."""
    for port in (USUAL_PORT, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return 0  # the daemon will say why
