"""The demo: a broker, a model that goes wrong, the daemon that shows it; all on this machine."""

from monitor.demo.run import run_demo

__all__ = ["run_demo"]
