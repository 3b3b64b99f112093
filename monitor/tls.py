"""From certificate files to what both ends of HTTPS need; a wrong file is named by its key."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from monitor.config import ServerConfig
from monitor.errors import ConfigurationError

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of section server.tls.

    Attributes
    ----------
    cert_file, key_file
        The server's certificate, its chain behind it, and its private key, as PEM.
    key_password
        Of the key, None where it has none.
    client_ca_file
        Authorities of clients; a client without a certificate of theirs is refused. None asks for none.
    """

    cert_file: str
    key_file: str
    key_password: str | None = field(default=None, repr=False)
    client_ca_file: str | None = None


def configured_tls(server: ServerConfig) -> Tls | None:
    """Return the files that a configuration names, None where it has no section server.tls."""
    if (tls := server.tls) is None:
        return None
    password = None if tls.key_password is None else tls.key_password.get_secret_value()
    return Tls(tls.cert_file, tls.key_file, password, tls.client_ca_file)


def server_context(tls: Tls) -> ssl.SSLContext:
    """Return the settings of the server: TLS 1.2 or later, and client certificates where asked for.

    Raises
    ------
    ConfigurationError
        If a file or the password is wrong.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load_own(context, tls)
    if tls.client_ca_file is not None:
        authorities = _read("client_ca_file", tls.client_ca_file, _BEGIN)
        _trust(context, authorities, "client_ca_file", tls.client_ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(tls: Tls) -> ssl.SSLContext:
    """Return the settings of a client on the same machine that trusts this one server.

    It takes the very certificate in `cert_file` and no other, whatever name and issuer that one has. Where
    clients need a certificate, it shows the server's own.

    Raises
    ------
    ConfigurationError
        If a file or the password is wrong.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    first = _read("cert_file", tls.cert_file, _BEGIN).partition(_BEGIN)[2].partition(_END)[0]
    _trust(context, f"{_BEGIN}{first}{_END}\n", "cert_file", tls.cert_file)
    if tls.client_ca_file is not None:
        _load_own(context, tls)
    return context


def _load_own(context: ssl.SSLContext, tls: Tls) -> None:
    certificate = _read("cert_file", tls.cert_file, _BEGIN)
    encrypted = "ENCRYPTED" in _read("key_file", tls.key_file, "PRIVATE KEY-----")
    if encrypted and tls.key_password is None:
        raise ConfigurationError(
            f"server.tls.key_password is not set, and {tls.key_file} (server.tls.key_file) is encrypted; "
            "set the password, or write the key without one"
        )
    _trust(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), certificate, "cert_file", tls.cert_file)
    try:
        # Without a password OpenSSL would ask for it on the terminal.
        context.load_cert_chain(tls.cert_file, tls.key_file, lambda: tls.key_password or "")
    except (ssl.SSLError, ValueError) as error:
        raise ConfigurationError(_why_not(tls, encrypted, getattr(error, "reason", None))) from None


def _trust(context: ssl.SSLContext, certificates: str, key: str, path: str) -> None:
    try:
        context.load_verify_locations(cadata=certificates)
    except (ssl.SSLError, ValueError):
        raise ConfigurationError(_no_pem(key, path)) from None


def _read(key: str, path: str, marker: str) -> str:
    try:
        text = Path(path).read_text("ascii", "ignore")
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        reason = error.strerror if isinstance(error, OSError) else "it is no path"
        raise ConfigurationError(
            f"server.tls.{key}: {path} cannot be read: {reason}; check the path and its permissions"
        ) from None
    if marker not in text:
        raise ConfigurationError(_no_pem(key, path))
    return text


def _no_pem(key: str, path: str) -> str:
    what = "private key" if key == "key_file" else "certificate"
    return f"server.tls.{key}: {path} holds no {what} that can be used; write one in PEM format"


def _why_not(tls: Tls, encrypted: bool, reason: str | None) -> str:
    if reason == "KEY_VALUES_MISMATCH":
        return (
            f"server.tls.key_file: {tls.key_file} is not the key of {tls.cert_file} (server.tls.cert_file); "
            "name the two that belong together"
        )
    if reason is not None and reason.endswith(("KEY_TOO_SMALL", "MD_TOO_WEAK")):
        return f"server.tls.cert_file: {tls.cert_file} is too weak ({reason}); make a new one"
    if encrypted:
        return f"server.tls.key_password does not open {tls.key_file} (server.tls.key_file); correct it"
    return _no_pem("key_file", tls.key_file)
