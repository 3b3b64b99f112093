"""Moving an alias, on a registry that others use as well."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs, urlsplit

import pytest

from monitor.actions.decision import Decision
from monitor.actions.mlflow import MlflowAlias
from monitor.actions.sender import Outcome
from tests.support.desks import Office, alert
from tests.support.receivers import Receiver, receiving, response
from tests.support.registry import real_model

API = "/api/2.0/mlflow/registered-models"
NOW = 1_764_400_000_000_000


@dataclass
class Registry:
    """What MLflow's registry does with aliases."""

    versions: dict[str, set[str]] = field(default_factory=lambda: {"fraud": {"1", "2", "3"}})
    aliases: dict[tuple[str, str], str] = field(default_factory=lambda: {("fraud", "champion"): "2"})
    moves: list[str] = field(default_factory=list)
    before_move: Callable[[], None] = lambda: None
    after_move: Callable[[], None] = lambda: None
    broken: int | None = None

    def reply(self, client, request) -> None:
        status, found = self._answer(request)
        client.sendall(response(status, json.dumps(found).encode(), "Content-Type: application/json"))

    def _answer(self, request):
        parts = urlsplit(request.path)
        if self.broken is not None:
            return self.broken, {}
        if parts.path != f"{API}/alias":
            return 404, {"error_code": "ENDPOINT_NOT_FOUND"}
        if request.method == "GET":
            query = parse_qs(parts.query)
            name, alias = query["name"][0], query["alias"][0]
            if name not in self.versions:
                return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": f"no model {name}"}
            if (version := self.aliases.get((name, alias))) is None:
                return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": f"no alias {alias}"}
            return 200, {"model_version": {"name": name, "version": version}}
        body = json.loads(request.body)
        if body["version"] not in self.versions[body["name"]]:
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such version"}
        self.before_move()
        self.aliases[body["name"], body["alias"]] = body["version"]
        self.moves.append(body["version"])
        self.after_move()
        return 200, {}


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
def server(registry: Registry) -> Iterator[Receiver]:
    with receiving(registry.reply) as receiver:
        yield receiver


@pytest.fixture
def decision() -> Decision:
    office = Office()
    office.act(alert())
    return office.sender.sent[0]


def send(server: Receiver, decision: Decision, **options) -> Outcome:
    settings = {"alias": "champion", "registered_model": None, "token": None, "timeout": 5.0} | options
    return MlflowAlias(server.url, **settings).send(decision, NOW)


def test_the_alias_moves_to_the_version_before(server, registry, decision) -> None:
    assert send(server, decision) == ("done", "champion of fraud moved from version 2 to 1")
    assert registry.aliases == {("fraud", "champion"): "1"}
    assert [each.method for each in server.requests] == ["GET", "POST", "GET"]


def test_a_second_attempt_changes_nothing(server, registry, decision) -> None:
    send(server, decision)
    assert send(server, decision) == ("done", "champion of fraud is at version 1 already")
    assert registry.moves == ["1"]


def test_another_name_and_alias_and_a_token(server, registry, decision) -> None:
    registry.versions["ns.fraud v2"] = {"1", "2"}
    registry.aliases["ns.fraud v2", "live"] = "2"
    assert send(server, decision, registered_model="ns.fraud v2", alias="live", token="t0k").result == "done"
    assert registry.aliases["ns.fraud v2", "live"] == "1"
    assert {each.headers["authorization"] for each in server.requests} == {"Bearer t0k"}


def test_what_somebody_else_moved_stays(server, registry, decision) -> None:
    registry.aliases["fraud", "champion"] = "3"
    outcome = send(server, decision)
    assert outcome.result == "refused"
    assert "champion of fraud is at version 3, not 2: somebody else moved it" in (outcome.message or "")
    assert registry.moves == []


def test_what_somebody_else_moves_meanwhile_stays(server, registry, decision) -> None:
    registry.after_move = lambda: registry.aliases.update({("fraud", "champion"): "3"})
    outcome = send(server, decision)
    assert outcome.result == "refused"
    assert registry.aliases["fraud", "champion"] == "3"


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"target_version": "77"}, {}),
        ({}, {"alias": "nobody"}),
        ({"model": "unknown"}, {}),
    ],
)
def test_what_the_registry_does_not_know_is_final(server, registry, decision, changes, options) -> None:
    outcome = send(server, replace(decision, **changes), **options)
    assert outcome.result == "failed"
    assert "answered 40" in (outcome.message or "")
    assert registry.moves == []


def test_a_server_in_trouble_is_asked_again(server, registry, decision) -> None:
    registry.broken = 503
    assert send(server, decision).result == "retry"


def test_a_server_that_is_away(server, decision) -> None:
    server.stop()
    assert send(server, decision).result == "retry"


def test_what_is_no_mlflow(server, registry, decision) -> None:
    registry.broken = 200
    assert send(server, decision) == ("failed", f"what answers at {server.url} is no MLflow server")


def test_a_path_before_the_api(server, registry, decision) -> None:
    send(server, decision)
    hook = MlflowAlias(f"{server.url}/tracking/", "champion", None, None, 5.0)
    hook.send(decision, NOW)
    assert server.requests[-1].path.startswith(f"/tracking{API}/alias?")


# --- A real server.


@pytest.mark.slow
def test_a_real_server(decision: Decision) -> None:
    with real_model() as (url, name, ask):

        def attempt(alias: str = "champion", **changes) -> Outcome:
            return MlflowAlias(url, alias, name, None, 30.0).send(replace(decision, **changes), NOW)

        assert attempt(target_version="77").result == "failed"
        assert attempt("nobody").result == "failed"
        assert attempt() == ("done", f"champion of {name} moved from version 2 to 1")
        assert attempt() == ("done", f"champion of {name} is at version 1 already")
        ask("POST", "registered-models/alias", {"name": name, "alias": "champion", "version": "3"})
        assert attempt().result == "refused"
