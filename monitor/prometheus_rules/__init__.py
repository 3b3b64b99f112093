"""Alert and recording rules for Prometheus, and promtool tests of them, from the configured alerts."""

from monitor.prometheus_rules.files import rule_tests, rules_file
from monitor.prometheus_rules.output import write_files
from monitor.prometheus_rules.settings import Settings, configured

__all__ = ["Settings", "configured", "rule_tests", "rules_file", "write_files"]
