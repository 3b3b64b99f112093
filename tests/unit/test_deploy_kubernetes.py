"""deploy/kubernetes: schemas of every document, and that they fit to each other and to the daemon."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from monitor import __version__
from monitor.cli import SHUTDOWN_SECONDS
from tests.support.deploy import DEPLOY, config, installed, is_pinned, is_probe, rules_of, succeeds

KUBERNETES = DEPLOY / "kubernetes"
VERSION = "1.32"
CONFIG = config("kubernetes/base/monitor.yaml", {"MONITOR__KAFKA__GROUP_INSTANCE_ID": "monitor-0"})
PATCH = KUBERNETES / "overlays" / "standby" / "statefulset.yaml"
"""Part of a document, hence checked with what kustomize makes of it."""
DOCUMENTS = [
    pytest.param(document, id=f"{path.relative_to(KUBERNETES)}-{document['kind']}")
    for path in sorted(KUBERNETES.rglob("*.yaml"))
    if path.name not in ("kustomization.yaml", "monitor.yaml") and path != PATCH
    for document in yaml.safe_load_all(path.read_text())
]
UNKNOWN = {"ServiceMonitor", "PrometheusRule"}
"""Kinds that Kubernetes itself has no schema of."""


@functools.cache
def built(name: str) -> list[dict[str, Any]]:
    """Return what `kubectl apply -k` would send."""
    text = succeeds(installed("kubectl"), "kustomize", KUBERNETES / name)
    return list(yaml.safe_load_all(text))


def one(documents: list[dict[str, Any]], kind: str, name: str = "") -> dict[str, Any]:
    (found,) = (
        each for each in documents if each["kind"] == kind and each["metadata"]["name"].startswith(name)
    )
    return found


def raw(name: str, index: int = 0) -> dict[str, Any]:
    return list(yaml.safe_load_all((KUBERNETES / name).read_text()))[index]


STATEFUL_SET = raw("base/statefulset.yaml")
POD = STATEFUL_SET["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_follows_its_schema(document: dict[str, Any]) -> None:
    if document["kind"] in UNKNOWN:
        assert document["apiVersion"] == "monitoring.coreos.com/v1"
        assert {"apiVersion", "kind", "metadata", "spec"} == set(document)
    else:
        kubernetes_validate.validate(document, VERSION, strict=True)


@pytest.mark.parametrize("name", ["base", "overlays/standby"])
def test_what_kustomize_makes_follows_the_schemas(name: str) -> None:
    documents = built(name)
    for document in documents:
        assert document["metadata"]["namespace"] == "monitoring"
        if document["kind"] not in UNKNOWN:
            kubernetes_validate.validate(document, VERSION, strict=True)
    pod = one(documents, "StatefulSet")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert is_pinned(container["image"])
    assert container["image"].split(":")[1] == __version__
    config_map = one(documents, "ConfigMap")
    assert {"config": {"name": config_map["metadata"]["name"]}}.items() <= {
        volume["name"]: volume.get("configMap") for volume in pod["volumes"]
    }.items()
    known = {volume["name"] for volume in pod["volumes"]} | {
        claim["metadata"]["name"]
        for claim in one(documents, "StatefulSet")["spec"].get("volumeClaimTemplates", ())
    }
    assert {mount["name"] for mount in container["volumeMounts"]} == known


def test_a_wrong_document_is_refused() -> None:
    wrong = raw("base/statefulset.yaml")
    wrong["spec"]["replica"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSION, strict=True)


def test_one_pod_has_a_claim_of_its_own_and_no_budget() -> None:
    documents = built("base")
    spec = one(documents, "StatefulSet")["spec"]
    assert spec["replicas"] == 1
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert "PodDisruptionBudget" not in {each["kind"] for each in documents}


def test_a_standby_shares_the_claim() -> None:
    documents = built("overlays/standby")
    spec = one(documents, "StatefulSet")["spec"]
    assert spec["replicas"] == 2
    assert "volumeClaimTemplates" not in spec
    claim = one(documents, "PersistentVolumeClaim")
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    volumes = {each["name"]: each for each in spec["template"]["spec"]["volumes"]}
    assert volumes["state"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    budget = one(documents, "PodDisruptionBudget")["spec"]
    assert budget["minAvailable"] == 1
    assert budget["selector"] == spec["selector"]
    (rule,) = spec["template"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert rule["labelSelector"] == spec["selector"]


def test_probes_ask_what_the_daemon_answers() -> None:
    paths = {
        name: CONTAINER[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")
    }
    assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}
    assert all(map(is_probe, paths.values()))
    (port,) = CONTAINER["ports"]
    assert port["containerPort"] == CONFIG.server.port
    assert {CONTAINER[f"{name}Probe"]["httpGet"]["port"] for name in paths} == {port["name"]}


def test_it_has_time_to_end() -> None:
    assert POD["terminationGracePeriodSeconds"] == 45 > SHUTDOWN_SECONDS


def test_each_pod_is_a_static_member_by_its_name() -> None:
    (variable,) = CONTAINER["env"]
    assert variable["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}
    loaded = config("kubernetes/base/monitor.yaml", {variable["name"]: "monitor-1"})
    assert loaded.kafka.group_instance_id == "monitor-1"


def test_it_can_do_no_more_than_it_has_to() -> None:
    context = POD["securityContext"]
    assert context["runAsNonRoot"] and context["runAsUser"] == context["fsGroup"] > 0
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert POD["automountServiceAccountToken"] is False
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_files_of_the_configuration_are_mounted() -> None:
    mounts = {mount["name"]: Path(mount["mountPath"]) for mount in CONTAINER["volumeMounts"]}
    assert Path(CONFIG.checkpoint.directory).is_relative_to(mounts["state"])
    tokens = [CONFIG.server.read_token_file, CONFIG.server.act_token_file]
    assert [Path(str(token)).parent for token in tokens] == [mounts["tokens"]] * 2
    secret = next(volume["secret"] for volume in POD["volumes"] if volume["name"] == "tokens")
    assert secret["defaultMode"] & 0o007 == 0
    credentials = raw("base/servicemonitor.yaml")["spec"]["endpoints"][0]["authorization"]["credentials"]
    assert credentials == {"name": secret["secretName"], "key": Path(str(tokens[0])).name}


def test_no_secret_stands_here() -> None:
    assert "Secret" not in {document.values[0]["kind"] for document in DOCUMENTS}


def test_prometheus_scrapes_each_pod_as_the_job_of_the_rules() -> None:
    documents = built("base")
    monitored = one(documents, "ServiceMonitor")["spec"]
    wanted = monitored["selector"]["matchLabels"].items()
    (service,) = (
        each
        for each in documents
        if each["kind"] == "Service" and wanted <= each["metadata"]["labels"].items()
    )
    assert service["spec"]["clusterIP"] == "None"
    assert service["metadata"]["name"] == one(documents, "StatefulSet")["spec"]["serviceName"]
    assert service["metadata"]["labels"][monitored["jobLabel"]] == "monitor"
    (endpoint,) = monitored["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    pods = one(documents, "StatefulSet")["spec"]["template"]["metadata"]["labels"].items()
    for name in ("monitor", "monitor-pods"):
        assert raw("base/service.yaml", name == "monitor-pods")["spec"]["selector"].items() <= pods


def test_names_of_the_service_are_served() -> None:
    service, namespace = "monitor", "monitoring"
    assert {service, f"{service}.{namespace}", f"{service}.{namespace}.svc"} <= set(
        CONFIG.server.allowed_hosts
    )


def test_the_network_lets_brokers_be_reached() -> None:
    (address,) = CONFIG.kafka.bootstrap_servers
    host, port = address.split(":")
    _, brokers, *_ = raw("base/networkpolicy.yaml")["spec"]["egress"]
    assert int(port) in {each["port"] for each in brokers["ports"]}
    (to,) = brokers["to"]
    namespace = to["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
    assert host.split(".")[1] == namespace


def test_the_rules_are_those_of_its_configuration() -> None:
    groups = yaml.safe_load(rules_of("kubernetes/base/monitor.yaml"))["groups"]
    assert raw("base/prometheusrule.yaml")["spec"] == {"groups": groups}


def test_the_script_writes_the_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yml"
    rules.write_text(rules_of("kubernetes/base/monitor.yaml"))
    monitor = tmp_path / "monitor"  # the command itself takes seconds to start
    monitor.write_text(f'#!/bin/sh\ntest "$*" = "rules -c x.yaml --job y" && cat {rules}\n')
    monitor.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    written = succeeds(KUBERNETES / "prometheusrule.sh", "x.yaml", "--job", "y")
    assert written == (KUBERNETES / "base" / "prometheusrule.yaml").read_text()
