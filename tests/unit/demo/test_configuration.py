from __future__ import annotations

import socket

from monitor.config import load_config
from monitor.demo import configuration as demo
from monitor.demo.model import breast_cancer, digits


def text(folder):
    hook, secret = "http://127.0.0.1:9/rollback", folder / "secret"
    secret.write_text("s" * 32)
    return demo.configuration("127.0.0.1:9999", 1234, folder / "state", hook, secret, folder / "act-token")


def test_the_configuration_is_valid_and_fits_the_models(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(text(tmp_path))
    config = load_config(path, {})
    assert config.kafka.bootstrap_servers == ("127.0.0.1:9999",)
    assert config.kafka.topics == (demo.TOPIC,)
    assert config.server.port == 1234
    assert config.models[demo.MODEL].classes == breast_cancer().classes
    assert config.models["digits"].classes == digits().classes
    assert demo.WINDOW in [window.name for window in config.models[demo.MODEL].windows]
    assert demo.ALERT in config.alerts.rules
    assert config.alerts.rules[demo.ALERT].actions == (demo.ACTION,)


def test_a_taken_port_is_not_proposed(monkeypatch):
    with socket.socket() as taken:
        taken.bind((demo.HOST, 0))
        taken.listen()
        monkeypatch.setattr(demo, "USUAL_PORT", taken.getsockname()[1])
        port = demo.free_port()
    assert port not in (0, demo.USUAL_PORT)


def test_a_free_port_is_kept(monkeypatch):
    with socket.socket() as probe:
        probe.bind((demo.HOST, 0))
        monkeypatch.setattr(demo, "USUAL_PORT", probe.getsockname()[1])
    assert demo.free_port() == demo.USUAL_PORT
