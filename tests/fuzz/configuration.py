"""monitor.yaml and the environment: a configuration that can be described, or one ConfigurationError."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from random import Random

import yaml

from monitor.alert_rules import rules
from monitor.config import load_config
from monitor.config.load import PREFIX
from monitor.describe import describe
from monitor.errors import ConfigurationError
from tests.fuzz.mutation import ODD, changed_bytes, changed_tree
from tests.support.examples import blocks

ROOT = Path(__file__).parents[2]


def fuzz_configuration(data: bytes) -> None:
    """Load; what stands behind zero bytes are variables: the end of a name, an equals sign, the value."""
    document, *variables = data.split(b"\0")
    pairs = (text.decode(errors="replace").partition("=") for text in variables)
    environ = {PREFIX + name: value for name, _, value in pairs}
    with tempfile.NamedTemporaryFile() as file:
        file.write(document)
        file.flush()
        try:
            config = load_config(file.name, environ)
        except ConfigurationError as error:
            first, *problems = str(error).split("\n")
            assert first.startswith(file.name)
            assert all(line.startswith("  ") and ": " in line for line in problems)
            return
    try:
        resolved = rules(config)
    except ConfigurationError as error:
        assert all(line.startswith("alerts.rules.") and ": " in line for line in str(error).split("\n"))
        resolved = ()
    describe(config, rules=resolved)


def make_input(rng: Random) -> bytes:
    """Return a document and up to two variables."""
    kind = rng.randrange(5)
    if kind == 0:
        document = rng.randbytes(rng.randrange(30))
    else:
        document = rng.choice([_dumped(rng), rng.choice(DOCUMENTS)])
        if kind < 4:
            document = changed_bytes(rng, document, rng.choice(DOCUMENTS), TOKENS)
    variables = [rng.choice(NAMES) + b"=" + rng.choice(VALUES) for _ in range(rng.randrange(3))]
    return b"\0".join([document, *variables])


def _dumped(rng: Random) -> bytes:
    # JSON is YAML, and takes a tenth of the time to write.
    return json.dumps(
        changed_tree(
            rng,
            TREES,
            (*ODD, "0s", "1h", "all", "*", "a.b", "fraud", "1KB", "recall", "best", "region=*", "http://h"),
        )
    ).encode()


def _documents() -> list[bytes]:
    """Return the configurations that documentation shows."""
    pages = [ROOT / "README.md", ROOT / "docs/configuration.md", ROOT / "docs/events.md"]
    texts = [text for page in pages for language, text in blocks(page.read_text()) if language == "yaml"]
    return [(ROOT / "deploy/monitor.yaml").read_bytes(), *(text.encode() for text in texts)]


DOCUMENTS = _documents()
TREES = [yaml.safe_load(text) for text in DOCUMENTS]
TOKENS = [
    *(b"&a ", b"*a", b"&a [*a]", b"&a {a: *a}", b"<<: ", b"<<: *a\n", b"? ", b"- ", b"| ", b"> ", b"---\n"),
    *(b"!!int ", b"!!float ", b"!!bool ", b"!!timestamp ", b"!!set ", b"!!map ", b"!!omap ", b"!!binary "),
    *(b"!!str ", b"!!python/object:os.system ", b"!x ", b"%YAML 1.1\n", b"%TAG ! x\n", b"...\n"),
    *(b'"\\ud800"', b'"\\UFFFFFFFF"', b'"\\x00"', b"\xc2\x85", b"\xe2\x80\xa8", b"\x07", b"hunter2"),
    *(b"[" * 300, b"{a: " * 300, b"- " * 300, b"9" * 5000, b"1e999", b".inf", b".nan", b"0x", b"1_", b"010"),
    *(b"~", b"yes", b"null", b"''", b'""', b"\t", b"\r", b"\n", b"\n  ", b": ", b"#", b"{", b"}", b"[", b"]"),
    *(b",", b"'", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"*", b"all", b"0s", b"12:30", b"_file: /nowhere\n"),
]
NAMES = [
    *(b"KAFKA__TOPICS", b"KAFKA__SASL_PLAIN_PASSWORD", b"KAFKA__SASL_PLAIN_PASSWORD_FILE", b"KAFKA"),
    *(b"MODELS__FRAUD__TASK", b"MODELS__FRAUD__WINDOWS__0", b"EVALUATION__EVERY", b"LIMITS__MODELS"),
    *(b"ALERTS", b"ALERTS__RULES__RECALLBELOWFLOOR__FLOOR", b"ALERTS__RULES__X__CLASS", b"ALERTS__EVERY"),
    *(b"ACTIONS__ROLLBACK__URL", b"ACTIONS__X", b"ACTIONS__ENABLED", b"BASELINES__REFERENCE"),
    *(b"SERVER", b"SERVER__PORT", b"CHECKPOINT__EVERY", b"", b"__", b"KAFKA__", b"X__Y", b"\xff"),
]
VALUES = [b"", b"1", b"a", b"[a]", b"{a: 1}", b"[", b"!!int x", b"~", b"/nowhere", b"\xff", b"1s", b"0.5"]
