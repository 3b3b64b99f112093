"""Events behind the frontier, in order and once each, into detectors."""
