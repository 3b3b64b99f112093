"""From the `alerts` section and the catalog of metrics to rules in which everything is resolved."""

from monitor.alert_rules.rules import rules

__all__ = ["rules"]
