import pytest

from monitor.sources.diagnosis import explain, is_decided, server_list
from monitor.sources.listeners import Listener

FAILED = "Bootstrap connection to bootstrap-0 failed: "
DISCONNECTED = FAILED + "KafkaConnectionError: socket disconnected (backoff 0.04 secs)"
SECRET = "hunter2"
TLS = Listener(tls=True)
LOGIN = Listener(tls=True, mechanisms=("PLAIN", "SCRAM-SHA-256"))
SASL = {
    "bootstrap_servers": ["broker:9093"],
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "PLAIN",
    "sasl_plain_username": "alice",
    "sasl_plain_password": SECRET,
}


@pytest.mark.parametrize(
    ("reason", "cause", "remedy"),
    [
        ("[Error 58] SaslAuthenticationFailedError: Authentication failed", "refuses", "sasl_plain_password"),
        ("[Error 34] IllegalSaslStateError", "does not take SASL", "kafka.security_protocol"),
        ("Handshake failed: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed", "not signed", "kafka.ssl_cafile"),
        (
            "Handshake failed: [SSL: CERTIFICATE_VERIFY_FAILED] Hostname mismatch, certificate is not valid",
            "not for this host name",
            "ssl_check_hostname",
        ),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate has expired", "has expired", "renew"),
        ("[SSL: SSLV3_ALERT_BAD_CERTIFICATE] bad certificate", "asks for a client", "kafka.ssl_certfile"),
        ("[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] x", "asks for a client", "kafka.ssl_certfile"),
    ],
)
def test_refusals_name_cause_and_remedy_and_end_at_once(reason, cause, remedy):
    # After a refusal the client reconnects and finds only a closed connection.
    failure = explain([DISCONNECTED, FAILED + reason, DISCONNECTED], SASL)
    assert cause in failure.message
    assert remedy in failure.message
    assert "broker:9093" in failure.message
    assert not failure.waiting_helps
    assert SECRET not in failure.message
    assert is_decided([DISCONNECTED, FAILED + reason])


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("KafkaConnectionError: 111 ECONNREFUSED", "nothing listens"),
        ("KafkaConnectionError: DNS Resolution failure", "cannot be resolved"),
        ("[Error 7] RequestTimedOutError: Request timed out after 167 ms", "no answer"),
        ("KafkaConnectionError: socket disconnected", "closes the connection"),
        ("something {new}", "something {new}"),
    ],
)
def test_what_may_pass_is_waited_for(reason, cause):
    failure = explain([FAILED + reason], {"bootstrap_servers": "localhost:9092"})
    assert cause in failure.message
    assert failure.waiting_helps
    assert not is_decided([FAILED + reason])


def test_refused_client_certificate_is_told_from_a_missing_one():
    failure = explain([FAILED + "[SSL: SSLV3_ALERT_CERTIFICATE_UNKNOWN]"], {**SASL, "ssl_certfile": "a.pem"})
    assert "refuses our client certificate" in failure.message


def test_plaintext_to_a_tls_port():
    failure = explain([DISCONNECTED], {"security_protocol": "PLAINTEXT"}, TLS)
    assert "speaks TLS" in failure.message
    assert "set it to SSL" in failure.message
    assert not failure.waiting_helps


def test_tls_to_a_plaintext_port():
    reason = FAILED + "Handshake failed: [SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred"
    failure = explain([reason], {"security_protocol": "SASL_SSL"}, Listener(tls=False))
    assert "does not speak TLS" in failure.message
    assert "SASL_PLAINTEXT" in failure.message
    assert not failure.waiting_helps


LOST = "<KafkaConnection node_id=bootstrap-0 broker_version={} (disconnected)>: Connection lost: {}"
CLOSED_AFTER_ANSWER = LOST.format("(4, 3)", "KafkaConnectionError: socket disconnected")


def test_connection_that_is_closed_at_login():
    failure = explain([DISCONNECTED, CLOSED_AFTER_ANSWER] * 2, SASL, LOGIN)
    assert "wrong user name or password" in failure.message
    assert "kafka.sasl_plain_password" in failure.message
    assert not failure.waiting_helps


@pytest.mark.parametrize("reason", [CLOSED_AFTER_ANSWER, FAILED + "UnsupportedSaslMechanismError: x"])
def test_mechanism_that_the_listener_does_not_offer(reason):
    assert not is_decided([reason])  # the listener is asked which ones it has
    failure = explain([reason], {**SASL, "sasl_mechanism": "SCRAM-SHA-512"}, LOGIN)
    assert "does not offer the SASL mechanism SCRAM-SHA-512" in failure.message
    assert "set kafka.sasl_mechanism to one of PLAIN, SCRAM-SHA-256" in failure.message
    assert not failure.waiting_helps


def test_listener_that_expects_a_login():
    failure = explain([CLOSED_AFTER_ANSWER] * 2, {"security_protocol": "SSL"}, LOGIN)
    assert "expects SASL" in failure.message
    assert "set it to SASL_SSL" in failure.message
    assert not failure.waiting_helps


def test_a_broker_that_is_going_closes_connections_too():
    unanswered = LOST.format("unknown", "KafkaConnectionError: socket disconnected")
    assert explain([unanswered] * 3, SASL, LOGIN).waiting_helps
    assert explain([CLOSED_AFTER_ANSWER] * 2, SASL).waiting_helps  # it answers no more


def test_a_time_out_is_told_from_a_closed_connection():
    late = LOST.format("unknown", "[Error 7] RequestTimedOutError: Request timed out after 3 ms")
    assert "no answer" in explain([late], {}).message


def test_no_reason_at_all():
    assert "no answer" in explain([], {}).message


@pytest.mark.parametrize("servers", ["a:1,b:2", ["a:1", "b:2"], ("a:1", "b:2")])
def test_server_list(servers):
    assert server_list({"bootstrap_servers": servers}) == ["a:1", "b:2"]
