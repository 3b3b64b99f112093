"""Forms for acts: the script sends them, with the token that somebody types in. Pure.

Without the script they do nothing (`method=dialog` outside of a dialog), and the token's field has no name:
no browser puts it into an address. The command for a terminal stands beside.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from monitor.web.body import MAX_NAME, MAX_TEXT
from monitor.web.html import Html, h, join
from monitor.wording import printable

HOW_TO_ACT = (
    "Nobody may approve, pause or silence here: set server.act_token_file to a file with a token "
    "(openssl rand -hex 32 > act-token)."
)

ENDS = "a duration (30m, 2h, 1d) or a time with its zone (2026-11-01T12:00:00Z)"


class Button(NamedTuple):
    """What a button says, and the address under the API that it asks."""

    text: str
    address: str


def act_form(
    id: str,
    name: str,
    buttons: Sequence[Button],
    fields: Sequence[Html] = (),
    example: Mapping[str, object] | None = None,
    method: Literal["POST", "DELETE"] = "POST",
) -> Html:
    """Return a form.

    Parameters
    ----------
    id
        Of the element, the same at every refresh.
    name
        What it is for, for screen readers.
    buttons
        The first one is also what Enter does.
    fields
        Beside who asks and the token.
    example
        Body of the command for a terminal.
    method
        Of the request.
    """
    addresses = [f"api/v1/{button.address}" for button in buttons]
    return join(
        h(
            "form",
            *fields,
            field("Your name", id, "by", required="", maxlength=f"{MAX_NAME}", autocomplete="username"),
            h("label", "Act token ", _token(id)),
            *(
                h("button", button.text, type="submit", data_act=address)
                for button, address in zip(buttons, addresses, strict=True)
            ),
            h("output"),
            id=id,
            class_="act",
            method="dialog",
            data_act=addresses[0],
            data_method=method,
            aria_label=name,
        ),
        h(
            "noscript",
            h("p", "In a terminal, with the address of this monitor in MONITOR:", class_="quiet"),
            *(h("pre", _command(method, each, example or {})) for each in addresses),
        ),
    )


def field(label: str, form: str, name: str, **attributes: str | None) -> Html:
    """Return an input with its label."""
    return h("label", f"{label} ", h("input", name=name, id=f"{form}-{name.replace('.', '-')}", **attributes))


def silence_form(id: str, labels: Mapping[str, str]) -> Html:
    """Return the form of a new silence.

    Parameters
    ----------
    id
        Of the element.
    labels
        Those of an alert, for a start; empty ones are left to be filled in, and match all when left so.
    """
    matchers = (
        field(name, id, f"matchers.{name}", **_value(text), maxlength=f"{MAX_TEXT}")
        for name, text in labels.items()
    )
    fields = (
        h(
            "fieldset",
            h("legend", "Alerts with all these labels; empty: any; * at the end: whatever follows"),
            *matchers,
        ),
        field("Until", id, "until", required="", value="2h", title=ENDS),
        field("Comment", id, "comment", required="", maxlength=f"{MAX_TEXT}"),
    )
    example = {
        "matchers": {name: text for name, text in labels.items() if text} or {"model": "MODEL"},
        "until": "2h",
        "comment": "WHY",
    }
    return act_form(id, "Silence actions", [Button("Silence", "silences")], fields, example)


def _value(text: str) -> dict[str, str]:
    """Return the attributes of an input that begins with a text; what no input can hold stands beside."""
    shown = printable(text)
    return {"value": shown} if shown == text else {"value": shown, "data_exact": json.dumps(text)}


def _token(id: str) -> Html:
    return h(
        "input",
        type="password",
        id=f"{id}-token",
        data_token="",
        required="",
        autocomplete="off",
        spellcheck="false",
    )


def _command(method: str, address: str, example: Mapping[str, object]) -> str:
    """Return a command that is safe to paste whatever names are in it."""
    head = f'curl -X {method} "$MONITOR/{address}{"?by=YOU" if method == "DELETE" else ""}" '
    bearer = '-H "Authorization: Bearer $(cat act-token)"'
    if method == "DELETE":
        return head + bearer
    body = shlex.quote(json.dumps({**example, "by": "YOU"}))
    return f"{head}{bearer} -H 'Content-Type: application/json' -d {body}"
