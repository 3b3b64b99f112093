"""`monitor doctor`: what the mapping makes of the newest messages, and what is wrong, in plain words."""

from monitor.doctor.examine import examine, findings

__all__ = ["examine", "findings"]
