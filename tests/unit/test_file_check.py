"""Files and folders of a configuration, before the daemon starts."""

from pathlib import Path

from monitor.config import ChampionConfig
from monitor.file_check import unusable_files
from tests.support.servers import configured

ACTIONS = (
    "actions: {hook: {type: webhook, url: 'https://h/x', secret_file: NO/hook.key},"
    " back: {type: mlflow, url: 'https://m', token_file: NO/token, ca_file: NO/ca}}\n"
    "baselines: {last: NO/last.baseline}\n"
    "alerts: {rules: {RecallLow: {model: fraud, metric: recall, floor: 0.5}}}"
)


def test_files_and_folders_that_cannot_be_used(tmp_path: Path) -> None:
    there, certificate = tmp_path / "there", tmp_path / "certificate"
    there.touch()
    certificate.write_text("no certificate")
    server = (
        f"read_token_file: {there}, act_token_file: NO/act, tls: {{cert_file: {certificate}, key_file: k}}"
    )
    rest = f"{ACTIONS}\ncheckpoint: {{directory: {there}/state}}"
    rest = rest.replace("actions: {", f"actions: {{audit_file: {there}/x/audit.jsonl, ")
    found = unusable_files(configured(tmp_path, server, "security_protocol: SSL, ssl_cafile: NO/kafka", rest))
    assert [problem.split(maxsplit=1)[0] for problem in found] == [
        "kafka.ssl_cafile:",
        "server.read_token_file:",
        "server.act_token_file:",
        "server.tls.cert_file:",
        "actions.hook.secret_file:",
        "actions.back.ca_file:",
        "baselines.last:",
        "cannot",
        "actions.audit_file:",
    ]
    assert found[-2] == (
        f"cannot write to {there}/state/monitor: Not a directory; set checkpoint.directory to a folder"
    )
    assert all("; " in problem for problem in found)
    assert {*tmp_path.iterdir()} == {there, certificate, tmp_path / "monitor.yaml"}


def test_nothing_is_wrong_with_folders_that_have_yet_to_be_made(tmp_path: Path) -> None:
    rest = f"checkpoint: {{directory: {tmp_path}/a/b}}\nactions: {{audit_file: {tmp_path}/c/d.jsonl}}"
    assert unusable_files(configured(tmp_path, rest=rest)) == []
    assert [path.name for path in tmp_path.iterdir()] == ["monitor.yaml"]


def test_files_of_actions_that_are_off_are_not_missed(tmp_path: Path) -> None:
    off = ACTIONS.replace("actions: {", "actions: {enabled: false, ")
    assert [problem.split()[0] for problem in unusable_files(configured(tmp_path, rest=off))] == [
        "baselines.last:"
    ]


def test_a_baseline_that_no_rule_may_use_is_not_read(tmp_path: Path) -> None:
    assert unusable_files(configured(tmp_path, rest="baselines: {last: NO/last.baseline}")) == []


def test_an_alias_without_a_registry(tmp_path: Path) -> None:
    config = configured(tmp_path, rest="").model_copy()
    fraud = config.models["fraud"].model_copy(update={"champion": ChampionConfig(mlflow_alias="best")})
    (found,) = unusable_files(config.model_copy(update={"models": {"fraud": fraud}}))
    assert found.startswith("models.fraud.champion.mlflow_alias: no action of type mlflow with alias 'best'")
