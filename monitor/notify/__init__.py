"""Who tells people where Prometheus does not: alerts are posted to Alertmanager."""
