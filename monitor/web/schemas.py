"""Words of OpenAPI that the description of the API is made of."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
OPTIONAL_TEXT: dict[str, Any] = {"type": ["string", "null"]}
TIME: dict[str, Any] = {"type": ["string", "null"], "format": "date-time"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
NUMBER: dict[str, Any] = {"type": "number"}
OPTIONAL_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
FLAG: dict[str, Any] = {"type": "boolean"}
OPTIONAL_FLAG: dict[str, Any] = {"type": ["boolean", "null"]}
LABELS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}


def object_of(**properties: Any) -> dict[str, Any]:
    """Describe an object; a trailing underscore of a name is dropped."""
    named = {name.rstrip("_"): schema for name, schema in properties.items()}
    return {"type": "object", "properties": named}


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    """Describe a list."""
    return {"type": "array", "items": items}


def answer(description: str, schema: dict[str, Any], media: str = "application/json") -> dict[str, Any]:
    """Describe an answer."""
    return {"description": description, "content": {media: {"schema": schema}}}


def header(answer: dict[str, Any], name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Describe an answer that has a header, too."""
    return {**answer, "headers": {name: {"schema": schema}}}


ERROR = object_of(error=TEXT, known=list_of(TEXT))
BUSY = header(answer("Too many requests at once.", ERROR), "Retry-After", COUNT)
NO_REPORT = header(
    answer("There is no report: nothing evaluated yet, or not the owner; or too many requests.", ERROR),
    "Retry-After",
    COUNT,
)

_ANYWHERE = {
    "_400": answer("The Host is not served here, or a choice does not exist; `known` lists those.", ERROR),
    "_401": header(answer("The token is missing or wrong.", ERROR), "WWW-Authenticate", TEXT),
    "_413": answer("The request has a body, or one that is too large.", ERROR),
    "_431": answer("The request is too large.", ERROR),
}


def query(name: str, schema: dict[str, Any] = TEXT, *, required: bool = False) -> dict[str, Any]:
    """Describe a query parameter."""
    return {"name": name, "in": "query", "schema": schema} | ({"required": True} if required else {})


def operation(summary: str, *parameters: dict[str, Any], **answers: dict[str, Any]) -> dict[str, Any]:
    """Describe what one method of a path does; answers are named `_200` and so on."""
    responses = {status.lstrip("_"): answer for status, answer in (_ANYWHERE | answers).items()}
    return {"summary": summary, "parameters": list(parameters), "responses": responses}
