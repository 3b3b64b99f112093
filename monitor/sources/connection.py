"""Opening a kafka-python client, so that a failure names its cause and nothing is left behind."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer
from kafka.errors import KafkaConfigurationError, KafkaError

from monitor.errors import ConfigurationError, SourceError
from monitor.sources.diagnosis import Failure, explain, is_decided, server_list
from monitor.sources.listeners import find_listener

logger = logging.getLogger(__name__)

BOOTSTRAP_TIMEOUT_MS = 3000
"""One attempt to connect; a wrong password is known after this time, a slow broker gets another attempt."""

ADMIN_TIMEOUT_MS = 5000
"""An admin client's questions are answered at once or not at all, and the poll thread waits for them."""

_FILES = ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile")


class ConnectionFailed(SourceError):
    """A client could not connect; `waiting_helps` tells whether another attempt makes sense."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.waiting_helps = failure.waiting_helps


def check_settings(settings: Mapping[str, object]) -> None:
    """Refuse what cannot work, before any connection.

    Raises
    ------
    ConfigurationError
        For a name that kafka-python does not know, and for a file that cannot be read or used.
    """
    unknown = sorted(set(settings) - set(KafkaConsumer.DEFAULT_CONFIG))
    if unknown:
        raise ConfigurationError(f"kafka.{unknown[0]}: no consumer setting of kafka-python has this name")
    for key in _FILES:
        path = settings.get(key)
        if path is not None:
            try:
                Path(str(path)).open("rb").close()
            except OSError as error:
                raise ConfigurationError(
                    f"kafka.{key}: cannot read {path}: {error.strerror}; check the path and its permissions"
                ) from None
    _check_certificates(settings)


def _check_certificates(settings: Mapping[str, object]) -> None:
    """Try what a connection would do with them: kafka-python would try again and again, and name no cause."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authorities, certificate = settings.get("ssl_cafile"), settings.get("ssl_certfile")
    if authorities is not None:
        try:
            context.load_verify_locations(str(authorities))
        except ssl.SSLError:
            raise ConfigurationError(f"kafka.ssl_cafile: {authorities} holds no certificate as PEM") from None
    if certificate is None:
        return
    key, password = settings.get("ssl_keyfile") or certificate, settings.get("ssl_password")
    try:
        # Without a password OpenSSL would ask on the terminal.
        context.load_cert_chain(str(certificate), str(key), str(password or ""))
    except ssl.SSLError as error:
        if "KEY_VALUES_MISMATCH" in str(error):
            problem = f"kafka.ssl_keyfile: {key} is not the key of the certificate in kafka.ssl_certfile"
        elif b"ENCRYPTED" in Path(str(key)).read_bytes():
            does = "does not open" if password else "is needed to open"
            problem = f"kafka.ssl_password: {does} the private key in {key}"
        else:
            problem = (
                f"kafka.ssl_certfile: {certificate} or its key in {key} cannot be used: both have to be PEM"
            )
        raise ConfigurationError(problem) from None


def connect(client: Callable[..., Any], settings: Mapping[str, object]) -> Any:
    """Open a `KafkaConsumer`, `KafkaProducer` or `KafkaAdminClient`.

    Parameters
    ----------
    client
        The class; settings that it does not know are left out.
    settings
        kafka-python's settings by their own names.

    Raises
    ------
    ConnectionFailed
        With cause and remedy.
    ConfigurationError
        Where kafka-python refuses a setting.
    """
    quiet()
    known = {name: value for name, value in settings.items() if name in client.DEFAULT_CONFIG}  # type: ignore[attr-defined]
    opened: list[Any] = []

    def network(**config: object) -> Any:
        made = KafkaConsumer.DEFAULT_CONFIG["kafka_client"](**config)
        # kafka-python's own setting never reaches the metadata requests: without this line a mistyped
        # or deleted topic would be created by asking for it.
        made.cluster.config["allow_auto_create_topics"] = False
        opened.append(made)
        return made

    with _reasons() as reasons:
        try:
            return client(**{"bootstrap_timeout_ms": BOOTSTRAP_TIMEOUT_MS, **known, "kafka_client": network})
        except (KafkaConfigurationError, AssertionError, TypeError, ValueError) as error:
            _close(opened)
            raise ConfigurationError(f"kafka: {error}") from None
        except KafkaError as error:
            # A constructor that raises leaves its network thread running.
            _close(opened)
            raise ConnectionFailed(_failure([*reasons, str(error)], settings)) from None


def connect_admin(settings: Mapping[str, object]) -> Any:
    """Open a `KafkaAdminClient`; see `connect`."""
    timeout = min(ADMIN_TIMEOUT_MS, int(str(settings.get("request_timeout_ms", ADMIN_TIMEOUT_MS))))
    return connect(KafkaAdminClient, {**settings, "request_timeout_ms": timeout})


def _failure(reasons: list[str], settings: Mapping[str, object]) -> Failure:
    found = () if is_decided(reasons) else map(find_listener, server_list(settings))
    return explain(reasons, settings, next(filter(None, found), None))


def _close(clients: list[Any]) -> None:
    for client in clients:
        client.close()


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.reasons: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message.startswith("Bootstrap connection to") or "Connection lost: " in message:
            self.reasons.append(message)


@contextmanager
def _reasons() -> Iterator[list[str]]:
    collector = _Collector()
    source = logging.getLogger("kafka.net")
    source.addHandler(collector)
    try:
        yield collector.reasons
    finally:
        source.removeHandler(collector)


class _Demote(logging.Handler):
    """Passes kafka-python's records on at debug level: up to 25 a second while a broker is away."""

    def emit(self, record: logging.LogRecord) -> None:
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %s", record.name, record.getMessage())


def quiet() -> None:
    """Keep kafka-python's own log at debug level."""
    client = logging.getLogger("kafka")
    if not any(isinstance(handler, _Demote) for handler in client.handlers):
        client.addHandler(_Demote())
    client.propagate = False
    # Not below: at debug level kafka-python writes its whole configuration, passwords included.
    client.setLevel(logging.INFO)
