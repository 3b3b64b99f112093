"""From a label or prediction as sent to the index of a class, or to the indices of several."""

from __future__ import annotations

from monitor.events.spec import OTHER, ModelSpec
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


def vector_order(spec: ModelSpec, codes: dict[object, int], version: str) -> list[int]:
    """Return the class at each place of a version's vectors."""
    return [codes[name] for name in spec.version_classes.get(version, spec.classes)]


def class_code(spec: ModelSpec, codes: dict[object, int], value: Scalar | list[Scalar], version: str) -> int:
    """Return the class of one label.

    Parameters
    ----------
    spec
        The model.
    codes
        Its table, from `class_codes`.
    value
        A spelling of a class, a list of one, or a one-hot vector in the order of the version's classes.
    version
        The version.

    Raises
    ------
    Refused
        `unknown_label` or `wrong_length`.
    """
    if isinstance(value, list):
        if len(value) == 1:
            return class_code(spec, codes, value[0], version)
        hot = [i for i, element in enumerate(value) if element == 1]
        if len(value) != len(spec.classes) or any(element not in (0, 1) for element in value):
            raise Refused(
                "wrong_length",
                f"expected one class, or a 0/1 vector of {len(spec.classes)}, got {shown(value)}; "
                f"task {spec.task} has one class an event: if several can be true, set task: multilabel",
            )
        if len(hot) != 1:
            raise Refused("unknown_label", f"a 0/1 vector names one class, this one {len(hot)}")
        return vector_order(spec, codes, version)[hot[0]]
    code = codes.get(value)
    if code is None:
        raise unknown_label(spec, value)
    return code


def class_set(
    spec: ModelSpec, codes: dict[object, int], value: Scalar | list[Scalar], version: str
) -> list[int]:
    """Return the classes of one multilabel label or prediction, OTHER for each that is not known.

    Parameters
    ----------
    spec, codes, version
        As for `class_code`.
    value
        A spelling of a class, a list of any number of them, or a 0/1 vector in the order of the version's
        classes. A list of the numbers 0 and 1 alone is a vector if it is as long as the classes, or
        repeats one of them: no list of classes does, and a vector of the wrong length must not pass for one.

    Raises
    ------
    Refused
        `wrong_length`.
    """
    elements = value if isinstance(value, list) else [value]
    size = len(spec.classes)
    binary = bool(elements) and all(element in (0, 1) for element in elements)
    if binary and (len(elements) == size or len(set(elements)) < len(elements)):
        if len(elements) != size:
            raise Refused(
                "wrong_length",
                f"expected a 0/1 vector of {size}, got one of {len(elements)}; "
                "send one number for each class, or the names of the true ones",
            )
        order = vector_order(spec, codes, version)
        return [code for code, element in zip(order, elements, strict=True) if element == 1]
    return [codes.get(element, OTHER) for element in elements]


def unknown_label(spec: ModelSpec, value: object) -> Refused:
    """Return the refusal of a label that is no class."""
    return Refused(
        "unknown_label",
        f"{shown(value)} is none of the classes {', '.join(map(shown, spec.classes[:10]))}"
        f"{' and so on' if len(spec.classes) > 10 else ''} (integers are {spec.integers}); "
        "add it to aliases, or set labels",
    )


def _is_integer(name: str) -> bool:
    try:
        int(name)
    except ValueError:
        return False
    return True
