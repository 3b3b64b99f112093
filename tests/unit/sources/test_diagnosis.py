import socket
import ssl
import threading
from contextlib import contextmanager

import pytest

from monitor.sources.diagnosis import explain, is_decided, listener_kind, server_list
from tests.support.certificates import Certificates

FAILED = "Bootstrap connection to bootstrap-0 failed: "
DISCONNECTED = FAILED + "KafkaConnectionError: socket disconnected (backoff 0.04 secs)"
SECRET = "hunter2"
SASL = {
    "bootstrap_servers": ["broker:9093"],
    "security_protocol": "SASL_SSL",
    "sasl_plain_username": "alice",
    "sasl_plain_password": SECRET,
}


@pytest.mark.parametrize(
    ("reason", "cause", "remedy"),
    [
        ("[Error 58] SaslAuthenticationFailedError: Authentication failed", "refuses", "sasl_plain_password"),
        ("[Error 33] UnsupportedSaslMechanismError: x", "does not offer", "kafka.sasl_mechanism"),
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
    failure = explain([DISCONNECTED], {"security_protocol": "PLAINTEXT"}, "tls")
    assert "speaks TLS" in failure.message
    assert "set it to SSL" in failure.message
    assert not failure.waiting_helps


def test_tls_to_a_plaintext_port():
    reason = FAILED + "Handshake failed: [SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred"
    failure = explain([reason], {"security_protocol": "SASL_SSL"}, "plaintext")
    assert "does not speak TLS" in failure.message
    assert "SASL_PLAINTEXT" in failure.message
    assert not failure.waiting_helps


LOST = "<KafkaConnection node_id=bootstrap-0 broker_version={} (disconnected)>: Connection lost: {}"
CLOSED_AFTER_ANSWER = LOST.format("(4, 3)", "KafkaConnectionError: socket disconnected")


def test_connection_that_is_closed_at_login():
    failure = explain([DISCONNECTED, CLOSED_AFTER_ANSWER] * 2, SASL)
    assert "wrong user name or password" in failure.message
    assert "kafka.sasl_plain_password" in failure.message
    assert not failure.waiting_helps


def test_listener_that_expects_a_login():
    failure = explain([CLOSED_AFTER_ANSWER] * 2, {"security_protocol": "SSL"})
    assert "expects SASL" in failure.message
    assert "set it to SASL_SSL" in failure.message
    assert not failure.waiting_helps


def test_a_broker_that_is_going_closes_connections_too():
    unanswered = LOST.format("unknown", "KafkaConnectionError: socket disconnected")
    assert explain([unanswered] * 3 + [CLOSED_AFTER_ANSWER], SASL).waiting_helps


def test_a_time_out_is_told_from_a_closed_connection():
    late = LOST.format("unknown", "[Error 7] RequestTimedOutError: Request timed out after 3 ms")
    assert "no answer" in explain([late], {}).message


def test_no_reason_at_all():
    assert "no answer" in explain([], {}).message


@pytest.mark.parametrize("servers", ["a:1,b:2", ["a:1", "b:2"], ("a:1", "b:2")])
def test_server_list(servers):
    assert server_list({"bootstrap_servers": servers}) == ["a:1", "b:2"]


@contextmanager
def listening(answer):
    """Serve connections with `answer(connection)`."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            for _ in range(2):
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    try:
                        answer(connection)
                    except OSError:
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join(5)


def test_listener_that_speaks_plaintext():
    with listening(lambda connection: connection.sendall(connection.recv(64)[:4] + b"\0\0\0\1")) as server:
        assert listener_kind(server) == "plaintext"
        socket.create_connection(server.split(":")).close()


def test_listener_that_speaks_tls(tmp_path):
    broker = Certificates(tmp_path / "tls").broker
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(broker.certificate, broker.key)
    with listening(lambda connection: context.wrap_socket(connection, server_side=True).close()) as server:
        assert listener_kind(server) == "tls"


def test_listener_that_says_nothing():
    with listening(lambda connection: None) as server:
        assert listener_kind(server) is None
    assert listener_kind(server, timeout=0.2) is None
