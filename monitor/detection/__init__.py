"""Sequential detectors: evidence gathered observation by observation, whose false alarms have a bound."""
