import re

import pytest

from monitor.errors import ConfigurationError
from monitor.sources.connection import check_settings
from tests.support.certificates import KEY_PASSWORD, Certificates

WRONG = "wrong-secret"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("connection") / "tls")


def files(certificate, **more):
    return {"ssl_certfile": str(certificate.certificate), "ssl_keyfile": str(certificate.key), **more}


def test_files_that_can_be_used(certificates):
    check_settings({"ssl_cafile": str(certificates.ca.certificate), **files(certificates.client)})
    check_settings({"ssl_certfile": str(certificates.client.as_one_file())})
    check_settings(files(certificates.locked_client, ssl_password=KEY_PASSWORD))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            lambda c: {"ssl_cafile": str(c.client.key)},
            r"ssl_cafile: .*client\.key holds no certificate as PEM",
        ),
        (
            lambda c: files(c.client) | {"ssl_keyfile": str(c.stranger.key)},
            r"ssl_keyfile: .*stranger\.key is not the key of the certificate in kafka\.ssl_certfile",
        ),
        (lambda c: files(c.locked_client), r"ssl_password: is needed to open the private key in .*locked"),
        (
            lambda c: files(c.locked_client, ssl_password=WRONG),
            r"ssl_password: does not open the private key",
        ),
        (lambda c: {"ssl_certfile": str(c.client.certificate)}, r"ssl_certfile: .* both have to be PEM"),
        (
            lambda c: {"ssl_certfile": "/nowhere.pem"},
            r"ssl_certfile: cannot read /nowhere\.pem: No such file",
        ),
    ],
)
def test_files_that_cannot_be_used_are_named(certificates, settings, message):
    with pytest.raises(ConfigurationError) as raised:
        check_settings(settings(certificates))
    assert re.search(message, str(raised.value))
    assert WRONG not in str(raised.value)
