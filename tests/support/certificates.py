"""Certificates for TLS tests: a CA, a broker's, a client's, and those of a CA that nobody trusts."""

import subprocess
from pathlib import Path
from typing import NamedTuple

KEY_PASSWORD = "key-secret"


class Certificate(NamedTuple):
    """Two PEM files."""

    certificate: Path
    key: Path

    def as_one_file(self) -> Path:
        """Return a file with both, as Kafka takes them."""
        both = self.key.with_suffix(".pem")
        both.write_text(self.key.read_text() + self.certificate.read_text())
        return both


class Certificates:
    """Made with openssl in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self.ca = self._authority("ca")
        self.stranger_ca = self._authority("stranger-ca")
        self.broker = self._signed("broker", self.ca)
        self.misnamed = self._signed("misnamed", self.ca, "DNS:elsewhere.example")
        self.client = self._signed("client", self.ca)
        self.locked_client = self._locked("locked-client", self.client)
        self.stranger = self._signed("stranger", self.stranger_ca)

    def _openssl(self, *arguments: str) -> None:
        done = subprocess.run(["openssl", *arguments], cwd=self._folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)

    def _files(self, name: str) -> Certificate:
        return Certificate(self._folder / f"{name}.crt", self._folder / f"{name}.key")

    def _request(self, name: str, *options: str) -> None:
        key = (
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            f"{name}.key",
        )
        self._openssl("req", *key, "-subj", f"/CN={name}", *options)

    def _authority(self, name: str) -> Certificate:
        self._request(name, "-x509", "-days", "30", "-out", f"{name}.crt")
        return self._files(name)

    def _signed(self, name: str, by: Certificate, hosts: str = "DNS:localhost,IP:127.0.0.1") -> Certificate:
        self._request(name, "-out", f"{name}.csr")
        extensions = self._folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={hosts}\n")
        ca = ("-CA", str(by.certificate), "-CAkey", str(by.key), "-CAcreateserial")
        self._openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", "-days", "30"),
            *ca,
            *("-extfile", str(extensions)),
        )
        return self._files(name)

    def _locked(self, name: str, of: Certificate) -> Certificate:
        """Return a certificate with its key behind `KEY_PASSWORD`."""
        self._openssl(
            "pkey", "-in", str(of.key), "-aes256", "-passout", f"pass:{KEY_PASSWORD}", "-out", f"{name}.key"
        )
        return Certificate(of.certificate, self._folder / f"{name}.key")
