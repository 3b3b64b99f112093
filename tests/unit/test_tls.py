"""Certificate files: what is wrong with them is said by key, before anything is served."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from monitor.config import ServerConfig
from monitor.errors import ConfigurationError
from monitor.tls import Tls, client_context, configured_tls, server_context
from tests.support.certificates import Certificates

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates, and what is none."""
    folder = tmp_path_factory.mktemp("tls") / "files"
    Certificates(folder)
    encrypt = ["openssl", "pkey", "-in", "broker.key", "-aes256", "-passout", "pass:secret"]
    subprocess.run([*encrypt, "-out", "encrypted.key"], cwd=folder, check=True)
    for kind in ("CERTIFICATE", "PRIVATE KEY"):
        text = f"-----BEGIN {kind}-----\nMIIB\n-----END {kind}-----\n"
        (folder / f"bad.{'crt' if kind == 'CERTIFICATE' else 'key'}").write_text(text)
    (folder / "text").write_text("nothing of the kind\n")
    chain = (folder / "broker.crt").read_text() + (folder / "ca.crt").read_text()
    (folder / "chain.crt").write_text(f"# Łódź\n{chain}", "utf-8")
    return folder


def tls(folder: Path, cert: str, key: str, password: str | None = None, client_ca: str | None = None) -> Tls:
    authorities = None if client_ca is None else str(folder / client_ca)
    return Tls(str(folder / cert), str(folder / key), password, authorities)


@pytest.mark.parametrize(
    "named",
    [
        ("broker.crt", "broker.key"),
        ("chain.crt", "broker.key"),
        ("broker.crt", "encrypted.key", "secret"),
        ("broker.crt", "broker.key", "needless"),
        ("broker.crt", "broker.key", None, "ca.crt"),
    ],
)
def test_files_that_fit(files: Path, named: tuple[str, ...]) -> None:
    context = server_context(tls(files, *named))
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    wanted = ssl.CERT_REQUIRED if len(named) == 4 else ssl.CERT_NONE
    assert context.verify_mode is wanted
    assert client_context(tls(files, *named)).verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (("none", "broker.key"), r"server\.tls\.cert_file: .*none cannot be read: No such file"),
        (("", "broker.key"), r"server\.tls\.cert_file: .* cannot be read: Is a directory"),
        (("text", "broker.key"), r"server\.tls\.cert_file: .*text holds no certificate .*PEM"),
        (("bad.crt", "broker.key"), r"server\.tls\.cert_file: .*bad\.crt holds no certificate .*PEM"),
        (("broker.key", "broker.key"), r"server\.tls\.cert_file: .*broker\.key holds no certificate"),
        (("broker.crt", "none"), r"server\.tls\.key_file: .*none cannot be read: No such file"),
        (("broker.crt", "bad.key"), r"server\.tls\.key_file: .*bad\.key holds no private key .*PEM"),
        (("broker.crt", "broker.crt"), r"server\.tls\.key_file: .*broker\.crt holds no private key"),
        (
            ("broker.crt", "client.key"),
            r"server\.tls\.key_file: .*client\.key is not the key of .*broker",
        ),
        (("broker.crt", "encrypted.key"), r"server\.tls\.key_password is not set.*encrypted\.key"),
        (("broker.crt", "encrypted.key", "wrong"), r"server\.tls\.key_password does not open .*; correct it"),
        (("broker.crt", "encrypted.key", ""), r"server\.tls\.key_password does not open .*; correct it"),
        (("broker.crt", "broker.key", None, "none"), r"server\.tls\.client_ca_file: .*none cannot be read"),
        (("broker.crt", "broker.key", None, "bad.crt"), r"server\.tls\.client_ca_file: .*holds no cert"),
        (("broker.crt", "broker.key", None, "text"), r"server\.tls\.client_ca_file: .*holds no cert"),
    ],
)
def test_files_that_do_not_fit_are_named(files: Path, named: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as refused:
        server_context(tls(files, *named))
    assert "wrong" not in str(refused.value)


def test_a_client_trusts_the_first_certificate_alone(files: Path) -> None:
    assert len(client_context(tls(files, "chain.crt", "broker.key")).get_ca_certs()) == 0  # no authority
    assert client_context(tls(files, "chain.crt", "none")).cert_store_stats()["x509"] == 1


def test_the_password_is_not_shown(files: Path) -> None:
    named = {"cert_file": "c", "key_file": "k", "key_password": "hunter2"}
    found = configured_tls(ServerConfig.model_validate({"tls": named}))
    assert found == Tls("c", "k", "hunter2")
    assert "hunter2" not in repr(found)
    assert configured_tls(ServerConfig()) is None
