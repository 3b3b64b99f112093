"""Moves an alias of an MLflow model registry, over REST.

The registry has no compare-and-swap: the alias is read, moved, and read again, and whatever somebody else did
meanwhile stays as it is.
"""

from __future__ import annotations

import json
import ssl
from urllib.parse import urlencode

from monitor.actions.decision import Decision
from monitor.actions.http import Answer, Client, Endpoint, HttpError
from monitor.actions.sender import Outcome
from monitor.actions.webhook import outcome_of

_ALIAS = "/api/2.0/mlflow/registered-models/alias"


class MlflowAlias:
    """Moves one alias to the version before the bad one.

    Parameters
    ----------
    url
        Of the tracking server.
    alias
        What is moved, such as ``champion``.
    registered_model
        Its name in the registry; None where that is the model's own.
    token
        Sent as a bearer token; None sends none.
    timeout
        Seconds for one request; an attempt makes up to three.
    context
        For TLS; None: the system's authorities are trusted.
    """

    def __init__(
        self,
        url: str,
        alias: str,
        registered_model: str | None,
        token: str | None,
        timeout: float,
        context: ssl.SSLContext | None = None,
    ) -> None:
        endpoint = Endpoint.of(url)
        self._where = str(endpoint)
        self._path = endpoint.path.rstrip("/") + _ALIAS
        self._alias = alias
        self._registered_model = registered_model
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._client = Client(endpoint, timeout, context)

    def send(self, decision: Decision, now: int) -> Outcome:
        """Make one attempt: read the alias, move it, read it again."""
        assert decision.target_version is not None  # without one nothing is decided
        name, target = self._registered_model or decision.model, decision.target_version
        try:
            was = self._read(name)
            if was == target:
                return Outcome("done", f"{self._alias} of {name} is at version {target} already")
            if was != decision.bad_version:
                return Outcome("refused", self._moved(name, was, decision.bad_version))
            self._move(name, target)
            found = self._read(name)
        except HttpError as error:
            return Outcome("retry", str(error))
        except _Refused as refused:
            return refused.outcome
        if found != target:
            return Outcome("refused", self._moved(name, found, target))
        return Outcome("done", f"{self._alias} of {name} moved from version {was} to {target}")

    def current(self, model: str) -> str:
        """Return the version that the alias of a model is at.

        Raises
        ------
        HttpError
            If that cannot be read.
        """
        try:
            return self._read(self._registered_model or model)
        except _Refused as refused:
            raise HttpError(refused.outcome.message) from None

    def close(self) -> None:
        """Cut off an attempt that is under way, and make no further one."""
        self._client.close()

    def _read(self, name: str) -> str:
        query = urlencode({"name": name, "alias": self._alias})
        answer = self._client.request("GET", f"{self._path}?{query}", self._headers)
        self._check(answer)
        try:
            return str(json.loads(answer.body)["model_version"]["version"])
        except (ValueError, KeyError, TypeError):
            raise _Refused(Outcome("failed", f"what answers at {self._where} is no MLflow server")) from None

    def _move(self, name: str, version: str) -> None:
        body = json.dumps({"name": name, "alias": self._alias, "version": version}).encode()
        self._check(self._client.request("POST", self._path, self._headers, body))

    def _check(self, answer: Answer) -> None:
        outcome = outcome_of(answer, self._where)
        if outcome.result != "done":
            raise _Refused(outcome)

    def _moved(self, name: str, found: str, expected: str) -> str:
        return (
            f"{self._alias} of {name} is at version {found}, not {expected}: somebody else moved it, or the "
            "events' versions are not the registry's"
        )


class _Refused(Exception):
    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome
