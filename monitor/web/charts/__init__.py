"""Charts as SVG, drawn on the server: they need no script. Pure."""

from monitor.web.charts.figures import CHARTS, Chart, draw
from monitor.web.charts.sparkline import sparkline
from monitor.web.charts.standalone import standalone
from monitor.web.charts.timeline import Limit, Mark, timeline

__all__ = ["CHARTS", "Chart", "Limit", "Mark", "draw", "sparkline", "standalone", "timeline"]
