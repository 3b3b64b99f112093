"""From a label or prediction as sent to the index of a class."""

from __future__ import annotations

from monitor.events.spec import ModelSpec
from monitor.events.values import Refused, shown

Scalar = str | int | float | bool


def class_codes(spec: ModelSpec) -> dict[object, int]:
    """Return the table of all spellings of the model's classes.

    A number is looked up as it stands: in Python 1, 1.0 and True are one key, which is the
    documented reading.
    """
    codes: dict[object, int] = {}
    for alias, name in spec.aliases.items():
        codes[alias] = spec.classes.index(name)
    for i, name in enumerate(spec.classes):
        codes[name] = i
        if spec.integers == "indices":
            codes[i] = i
        elif _is_integer(name):
            codes[int(name)] = i
    return codes


def class_code(spec: ModelSpec, codes: dict[object, int], value: Scalar | list[Scalar]) -> int:
    """Return the class of one label.

    Parameters
    ----------
    spec
        The model.
    codes
        Its table, from `class_codes`.
    value
        A spelling of a class, a list of one, or a one-hot vector in the order of the classes.

    Raises
    ------
    Refused
        `unknown_label` or `wrong_length`.
    """
    if isinstance(value, list):
        if len(value) == 1:
            return class_code(spec, codes, value[0])
        hot = [i for i, element in enumerate(value) if element == 1]
        if len(value) != len(spec.classes) or any(element not in (0, 1) for element in value):
            raise Refused(
                "wrong_length",
                f"expected one class, or a 0/1 vector of {len(spec.classes)}, got {shown(value)}; "
                f"task {spec.task} has one class an event",
            )
        if len(hot) != 1:
            raise Refused("unknown_label", f"a 0/1 vector names one class, this one {len(hot)}")
        return hot[0]
    code = codes.get(value)
    if code is None:
        raise Refused(
            "unknown_label",
            f"{shown(value)} is none of the classes {', '.join(map(shown, spec.classes[:10]))}"
            f"{' and so on' if len(spec.classes) > 10 else ''} (integers are {spec.integers}); "
            "add it to aliases, or set labels",
        )
    return code


def _is_integer(name: str) -> bool:
    try:
        int(name)
    except ValueError:
        return False
    return True
