"""A model in the registry of a real MLflow server, where there is one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

from monitor.actions.http import Client, Endpoint

HOW = (
    "needs an MLflow server: python3 -m venv V && V/bin/pip install mlflow && MLFLOW_DISABLE_TELEMETRY=true "
    "V/bin/mlflow server --backend-store-uri sqlite:///mlflow.db --port 5000, then set "
    "MLFLOW_SERVER=http://127.0.0.1:5000"
)


@contextmanager
def real_model() -> Iterator[tuple[str, str, Callable[[str, str, dict[str, str]], Any]]]:
    """Make a registered model with versions 1, 2 and 3, and remove it afterwards."""
    url = os.environ.get("MLFLOW_SERVER")
    if not url:
        pytest.skip(HOW)
    client, name = Client(Endpoint.of(url), 30), f"monitor-test-{uuid4().hex[:8]}"

    def ask(method: str, path: str, body: dict[str, str]) -> Any:
        content = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        answer = client.request(method, f"/api/2.0/mlflow/{path}", headers, content)
        assert answer.status == 200, answer
        return json.loads(answer.body)

    ask("POST", "registered-models/create", {"name": name})
    try:
        for _ in range(3):
            ask("POST", "model-versions/create", {"name": name, "source": "s3://nowhere/model"})
        ask("POST", "registered-models/alias", {"name": name, "alias": "champion", "version": "2"})
        yield url, name, ask
    finally:
        ask("DELETE", "registered-models/delete", {"name": name})
