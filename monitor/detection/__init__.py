"""Sequential detectors: evidence gathered observation by observation, whose false alarms have a bound."""

from monitor.detection.calibration import calibration
from monitor.detection.calibration_map import CalibrationMap, identity_logit
from monitor.detection.clopper_pearson import clopper_pearson_lower, clopper_pearson_upper
from monitor.detection.differences import difference_ceiling
from monitor.detection.evalues import EValues, Floats
from monitor.detection.means import mean_ceiling, mean_floor
from monitor.detection.procedure import Procedure, Statistic
from monitor.detection.proportions import proportion_floor
from monitor.detection.running import Crossing, run

__all__ = [
    "CalibrationMap",
    "Crossing",
    "EValues",
    "Floats",
    "Procedure",
    "Statistic",
    "calibration",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "difference_ceiling",
    "identity_logit",
    "mean_ceiling",
    "mean_floor",
    "proportion_floor",
    "run",
]
