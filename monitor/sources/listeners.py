"""What stands behind a port, asked without a login.

A broker closes a connection that speaks the wrong protocol or logs in the wrong way without a word, as it
does when it is shutting down: only asking tells these apart.
"""

from __future__ import annotations

import socket
import ssl
import struct
from typing import NamedTuple

Address = tuple[str, int]

_CORRELATION = b"\x00\x00\x00\x01"


class Listener(NamedTuple):
    """A port on which a broker answers.

    Attributes
    ----------
    tls
        Whether it speaks TLS.
    mechanisms
        SASL mechanisms that it offers; empty where it wants no login or does not say.
    """

    tls: bool
    mechanisms: tuple[str, ...] = ()


def find_listener(server: str, timeout: float = 1.0) -> Listener | None:
    """Ask a port what it is; None where nothing answers.

    Parameters
    ----------
    server
        host:port.
    timeout
        Seconds to wait for each answer.
    """
    host, _, port = server.rpartition(":")
    if not host or not port.isdigit():
        host, port = server, "9092"
    address = (host.rpartition("://")[2].strip("[]"), int(port))
    if _answers_plaintext(address, timeout):
        return Listener(False, _mechanisms(address, timeout, tls=False))
    if _answers_tls(address, timeout):
        return Listener(True, _mechanisms(address, timeout, tls=True))
    return None


def _answers_plaintext(address: Address, timeout: float) -> bool:
    try:
        with socket.create_connection(address, timeout) as connection:
            # ApiVersions v0: every broker since 0.10 answers it at once.
            connection.sendall(_request(18, 0))
            return connection.recv(8)[4:8] == _CORRELATION
    except OSError:
        return False


def _answers_tls(address: Address, timeout: float) -> bool:
    try:
        with _tls(address, timeout):
            return True
    except ssl.SSLError as error:
        return "ALERT" in str(error)
    except OSError:
        return False


def _mechanisms(address: Address, timeout: float, *, tls: bool) -> tuple[str, ...]:
    """Ask for a mechanism that there is not: the refusal names those that there are."""
    try:
        with _tls(address, timeout) if tls else socket.create_connection(address, timeout) as connection:
            connection.sendall(_request(17, 1, _string("?")))  # SaslHandshake v1
            answer = connection.recv(4096)
        (count,) = struct.unpack_from(">i", answer, 10)  # after length, correlation id and error code
        names, position = [], 14
        for _ in range(count):
            (length,) = struct.unpack_from(">h", answer, position)
            names.append(answer[position + 2 : position + 2 + length].decode())
            position += 2 + length
    except (OSError, struct.error, UnicodeDecodeError):
        return ()
    return tuple(names)


def _tls(address: Address, timeout: float) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing secret is sent: only what the port speaks matters
    connection = socket.create_connection(address, timeout)
    try:
        return context.wrap_socket(connection)
    except BaseException:
        connection.close()
        raise


def _request(api: int, version: int, body: bytes = b"") -> bytes:
    message = struct.pack(">hh", api, version) + _CORRELATION + _string("probe") + body
    return struct.pack(">i", len(message)) + message


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()
