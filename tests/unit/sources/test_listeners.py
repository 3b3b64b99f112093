import socket
import ssl
import struct
import threading
from contextlib import contextmanager

from monitor.sources.listeners import Listener, find_listener
from tests.support.certificates import Certificates


@contextmanager
def listening(answer):
    """Serve connections with `answer(connection)`."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)

        def serve():
            while not over.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    try:
                        answer(connection)
                    except OSError:
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        over.set()
        thread.join()


def as_broker(*mechanisms, error=33):
    """Answer ApiVersions and SaslHandshake."""
    names = b"".join(struct.pack(">h", len(name)) + name.encode() for name in mechanisms)
    handshake = struct.pack(">hi", error, len(mechanisms)) + names

    def answer(connection):
        if not (request := connection.recv(64)):
            return  # only the handshake of TLS
        assert struct.unpack_from(">i", request) == (len(request) - 4,)
        (api,) = struct.unpack_from(">h", request, 4)
        body = request[8:12] + (handshake if api == 17 else b"")
        connection.sendall(struct.pack(">i", len(body)) + body)

    return answer


def test_listener_that_speaks_plaintext():
    with listening(as_broker(error=34)) as server:
        assert find_listener(server) == Listener(tls=False)


def test_listener_that_wants_a_login_names_its_mechanisms():
    with listening(as_broker("PLAIN", "SCRAM-SHA-256")) as server:
        assert find_listener(f"SASL_PLAINTEXT://{server}") == Listener(False, ("PLAIN", "SCRAM-SHA-256"))


def tls(folder, answer):
    broker = Certificates(folder / "tls").broker
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(broker.certificate, broker.key)

    def answer_wrapped(connection):
        with context.wrap_socket(connection, server_side=True) as wrapped:
            answer(wrapped)

    return answer_wrapped


def test_listener_that_speaks_tls(tmp_path):
    with listening(tls(tmp_path, lambda connection: None)) as server:
        assert find_listener(server) == Listener(tls=True)


def test_listener_that_wants_a_login_over_tls(tmp_path):
    with listening(tls(tmp_path, as_broker("SCRAM-SHA-512"))) as server:
        assert find_listener(server) == Listener(True, ("SCRAM-SHA-512",))


def test_listener_that_says_nothing():
    with listening(lambda connection: None) as server:
        assert find_listener(server) is None
    assert find_listener(server, timeout=0.2) is None
