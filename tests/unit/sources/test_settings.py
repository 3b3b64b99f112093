import pytest

from monitor.sources.settings import DEFAULTS, FORCED, consumer_settings


def test_defaults_give_way_and_the_forced_do_not():
    settings = consumer_settings({"max_poll_records": 5, "client_id": "x", "enable_auto_commit": True})
    assert settings["max_poll_records"] == 5
    assert settings["client_id"] == "x"
    assert settings["session_timeout_ms"] == DEFAULTS["session_timeout_ms"]
    assert {key: settings[key] for key in FORCED} == FORCED


@pytest.mark.parametrize(
    ("given", "heartbeat"),
    [({}, 3000), ({"session_timeout_ms": 6000}, 2000), ({"heartbeat_interval_ms": 500}, 500)],
)
def test_heartbeats_fit_into_the_session(given, heartbeat):
    assert consumer_settings(given)["heartbeat_interval_ms"] == heartbeat
