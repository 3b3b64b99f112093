"""Why a connection to Kafka fails, said once and with the remedy.

kafka-python ends every failed connection in the same time-out; the reason stands only in its log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from monitor.sources.listeners import Listener


class Failure(NamedTuple):
    """What is wrong with a connection, in words."""

    message: str
    waiting_helps: bool


class _Cause(NamedTuple):
    pattern: str
    message: str
    waiting_helps: bool = False


_CREDENTIALS = (
    "check kafka.sasl_plain_username, kafka.sasl_plain_password (or _file) and kafka.sasl_mechanism"
)
_CLIENT_CERTIFICATE = (
    r"ALERT_(BAD_CERTIFICATE|CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE|UNSUPPORTED_CERTIFICATE)"
)
_MECHANISM = _Cause("UnsupportedSaslMechanism", "{mechanism}")

_CAUSES = (
    _Cause("SaslAuthenticationFailed", f"the broker refuses the user name or the password; {_CREDENTIALS}"),
    _MECHANISM,
    _Cause(
        "IllegalSaslState",
        "the listener does not take SASL; set kafka.security_protocol to PLAINTEXT or SSL, or use the port "
        "of the broker's SASL listener",
    ),
    _Cause("KafkaConfigurationError: ", "{reason}; correct the kafka section"),
    _Cause(
        "CERTIFICATE_VERIFY_FAILED.*(mismatch|doesn't match)",
        "the broker's certificate is not for this host name; connect by a name that stands in it, or set "
        "kafka.ssl_check_hostname: false",
    ),
    _Cause(
        "CERTIFICATE_VERIFY_FAILED.*expired",
        "the broker's certificate has expired; renew it (or correct this machine's clock)",
    ),
    _Cause(
        "CERTIFICATE_VERIFY_FAILED",
        "the broker's certificate is not signed by a CA that we trust; set kafka.ssl_cafile to the PEM file "
        "of the CA that signed it",
    ),
    _Cause(_CLIENT_CERTIFICATE, "{client_certificate}"),
)

_TLS_LISTENER = _Cause(
    "",
    "the port speaks TLS and kafka.security_protocol is {protocol}; set it to {tls_protocol} (with "
    "kafka.ssl_cafile), or use the port of the plaintext listener",
)
_PLAINTEXT_LISTENER = _Cause(
    "",
    "the port does not speak TLS and kafka.security_protocol is {protocol}; set it to {plain_protocol}, or "
    "use the port of the TLS listener",
)

# A broker that answers and then closes the connection. kafka-python drops an answer that comes together with
# the close, as a refusal often does.
_CLOSED_AFTER_ANSWER = r"broker_version=\(\d.*Connection lost: .*socket disconnected"
_LOGIN_CLOSED = _Cause(
    "",
    f"the broker closes the connection when we log in, as it does with a wrong user name or password; "
    f"{_CREDENTIALS}",
)
_LOGIN_EXPECTED = _Cause(
    "",
    "the broker answers and then closes the connection, as it does where it expects SASL and "
    "kafka.security_protocol is {protocol}; set it to {sasl_protocol}, with kafka.sasl_mechanism, or use the "
    "port of a listener without SASL",
)

_TRANSIENT = (
    _Cause(
        "DNS",
        "the host name cannot be resolved; check kafka.bootstrap_servers and this machine's DNS",
        waiting_helps=True,
    ),
    _Cause(
        "ECONNREFUSED",
        "nothing listens there; check kafka.bootstrap_servers and that the broker runs",
        waiting_helps=True,
    ),
    _Cause(
        "socket disconnected",
        "the broker closes the connection; it may be starting, or kafka.security_protocol ({protocol}) is "
        "not what the listener speaks",
        waiting_helps=True,
    ),
    _Cause(
        "[Tt]imed? ?out|TimedOut|ETIMEDOUT|EINPROGRESS|EHOSTUNREACH|ENETUNREACH",
        "no answer; check kafka.bootstrap_servers, the network and the firewall between here and the broker",
        waiting_helps=True,
    ),
)


def explain(
    reasons: Sequence[str],
    settings: Mapping[str, object],
    listener: Listener | None = None,
) -> Failure:
    """Name the cause of a failed connection and its remedy.

    Parameters
    ----------
    reasons
        What the client's log said, in order.
    settings
        The consumer settings; no secret of them enters the message.
    listener
        What stands behind the port, where it was asked and answers.
    """
    protocol = str(settings.get("security_protocol", "PLAINTEXT"))
    mechanism = str(settings.get("sasl_mechanism"))
    cause, reason = _find(reasons, protocol, mechanism, listener)
    has_certificate = settings.get("ssl_certfile") is not None
    message = cause.message.format(
        reason=reason.rpartition("KafkaConfigurationError: ")[2],
        protocol=protocol,
        sasl_protocol="SASL_SSL" if protocol == "SSL" else "SASL_PLAINTEXT",
        tls_protocol="SASL_SSL" if protocol.startswith("SASL") else "SSL",
        mechanism=(
            f"the broker does not offer the SASL mechanism {mechanism}; set kafka.sasl_mechanism to "
            + (
                f"one of {', '.join(listener.mechanisms)}"
                if listener and listener.mechanisms
                else "one that it has"
            )
        ),
        plain_protocol="SASL_PLAINTEXT" if protocol.startswith("SASL") else "PLAINTEXT",
        client_certificate=(
            "the broker refuses our client certificate; use one that is signed by a CA in the broker's trust "
            "store (kafka.ssl_certfile, kafka.ssl_keyfile)"
            if has_certificate
            else "the broker asks for a client certificate and none is configured; set kafka.ssl_certfile "
            "and kafka.ssl_keyfile"
        ),
    )
    return Failure(f"cannot connect to Kafka at {servers_text(settings)}: {message}", cause.waiting_helps)


def _find(
    reasons: Sequence[str], protocol: str, mechanism: str, listener: Listener | None
) -> tuple[_Cause, str]:
    # Most telling first: after a refusal kafka-python reconnects, and then logs only "disconnected".
    for cause in _CAUSES:
        for reason in reasons:
            if re.search(cause.pattern, reason):
                return cause, reason
    if listener is not None:
        if listener.tls and not protocol.endswith("SSL"):
            return _TLS_LISTENER, ""
        if not listener.tls and protocol.endswith("SSL"):
            return _PLAINTEXT_LISTENER, ""
        # It still answers: it is not just going away.
        if listener.mechanisms and any(re.search(_CLOSED_AFTER_ANSWER, reason) for reason in reasons):
            if not protocol.startswith("SASL"):
                return _LOGIN_EXPECTED, ""
            return (_LOGIN_CLOSED if mechanism in listener.mechanisms else _MECHANISM), ""
    for cause in _TRANSIENT:
        for reason in reasons:
            if re.search(cause.pattern, reason):
                return cause, reason
    last = reasons[-1] if reasons else "no answer"
    return _Cause("", last.replace("{", "{{").replace("}", "}}"), waiting_helps=True), last


def is_decided(reasons: Sequence[str]) -> bool:
    """Whether the log alone says all of a cause that no waiting cures, so that the port need not be asked."""
    told = [cause for cause in _CAUSES if cause is not _MECHANISM]  # the port tells which ones there are
    return any(re.search(cause.pattern, reason) for cause in told for reason in reasons)


def server_list(settings: Mapping[str, object]) -> list[str]:
    """Return `bootstrap_servers` as a list of host:port."""
    servers = settings.get("bootstrap_servers", "localhost:9092")
    return servers.split(",") if isinstance(servers, str) else [str(server) for server in servers]  # type: ignore[attr-defined]


def servers_text(settings: Mapping[str, object]) -> str:
    """Return `bootstrap_servers` for a message."""
    return ",".join(server_list(settings))
