"""Certificates for TLS tests: a CA, a broker's, a client's, and a client's of a CA that nobody trusts."""

import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificate(NamedTuple):
    """Two PEM files."""

    certificate: Path
    key: Path


class Certificates:
    """Made with openssl in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self.ca = self._authority("ca")
        self.stranger_ca = self._authority("stranger-ca")
        self.broker = self._signed("broker", self.ca)
        self.client = self._signed("client", self.ca)
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

    def _signed(self, name: str, by: Certificate) -> Certificate:
        self._request(name, "-out", f"{name}.csr")
        extensions = self._folder / f"{name}.ext"
        extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        ca = ("-CA", str(by.certificate), "-CAkey", str(by.key), "-CAcreateserial")
        self._openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", "-days", "30"),
            *ca,
            *("-extfile", str(extensions)),
        )
        return self._files(name)
