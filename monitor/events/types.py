"""The types of an event's fields, checked by pydantic before any of them is given a meaning."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from monitor.events.fields import FieldPaths
from monitor.events.values import Refused, is_text, shown


def _whole(text: str) -> str:
    if not is_text(text):
        raise ValueError("holds half a character")
    return text


def _number(value: float) -> float:
    if math.isnan(value):
        raise PydanticCustomError("finite_number", "is no number")
    return value


Text = Annotated[str, AfterValidator(_whole)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Logit = Annotated[float, AfterValidator(_number)]
Name = Text | int | Finite | None


class Fields(BaseModel):
    """The types of all fields; what the values mean depends on the model."""

    model_config = ConfigDict(strict=True)

    model: Name = None
    version: Name = None
    timestamp: Finite | Text | None = None
    label: Text | int | Finite | bool | list[Text | int | Finite | bool] | None = None
    score: Finite | None = None
    scores: list[Finite] | dict[Text, Finite] | None = None
    # NaN is a prediction of no class: a miss, not a refusal.
    prediction: Text | int | float | bool | list[Text | int | float | bool] | None = None
    confidence: Finite | None = None


class LogitFields(Fields):
    """The same where scores are logits: they may be infinite."""

    score: Logit | None = None
    scores: list[Logit] | dict[Text, Logit] | None = None


_EXPECTED = {
    "model": "a text",
    "version": "a text or a number",
    "timestamp": "epoch seconds, epoch milliseconds or an ISO 8601 text",
    "label": "a class name, an integer, a list of them, or null for an unlabeled event",
    "score": "a number (vectors belong in scores)",
    "scores": "a list of numbers, or an object of class: number",
    "prediction": "a class name, an integer, or a list of them",
    "confidence": "a number",
}


def check_types(found: dict[str, Any], paths: FieldPaths, types: type[Fields] = Fields) -> Fields:
    """Return the fields of a message, typed.

    Parameters
    ----------
    found
        What stands at each field's path.
    paths
        Those paths, for the text of a refusal.
    types
        What is allowed.

    Raises
    ------
    Refused
        `not_finite` or `wrong_type`, naming the field.
    """
    try:
        return types.model_validate(found)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        field = str(errors[0]["loc"][0])
        infinite = any(e["type"] == "finite_number" and e["loc"][0] == field for e in errors)
        where = ".".join(paths.fields.get(field, (field,)))
        name = field if where == field else f"{field} (at {where})"
        got = shown(found[field])
        if infinite and isinstance(found[field], list | dict):
            got += " with a NaN or an infinite number"
        elif isinstance(found[field], list) and None in found[field]:
            got += " with a null"
        raise Refused(
            "not_finite" if infinite else "wrong_type", f"{name}: expected {_EXPECTED[field]}, got {got}"
        ) from None
