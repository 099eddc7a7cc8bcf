"""URLs (section 5.3) in their only valid spelling, and the operator ``url``."""

from __future__ import annotations

import re
from typing import Any, List, NamedTuple, Optional, Tuple

from .forms import Problem, is_set, malformed, unknown
from .hosts import is_below, is_host, is_suffix
from .jsontext import Json
from .paths import begins, is_segment

_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}
_URL = re.compile(
    "(?P<scheme>https?|wss?)://"
    r"(?P<host>\[[0-9a-f:]*\]|[a-z0-9.-]+)"
    "(?::(?P<port>[0-9]+))?"
    r"(?P<path>/[^?#]*)(?:\?[!\"$-~]*)?(?:#[!\"$-~]*)?"
)
_PORT = re.compile("[1-9][0-9]{0,4}")
_CHARACTERS = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,=@-]|%[0-9A-F]{2})+")
_ESCAPE = re.compile("%([0-9A-F]{2})")
# No character of this list may be percent-encoded. ``;``, ``?`` and ``#`` may not occur at all; the others
# must be written literally.
_NEVER_ESCAPED = re.compile("[A-Za-z0-9._~!$&'()*+,=@;?#-]")
# The code points whose NFKC form contains ``;``, ``?`` or ``#``, as the specification lists them.
_LOOKALIKES = re.compile("[\u037e\u2047-\u2049\ufe14\ufe16\ufe54\ufe56\ufe5f\uff03\uff1b\uff1f]")
_PARTS = frozenset(["schemes", "hosts", "ports", "path"])


class Url(NamedTuple):
    """The parts of a URL that are judged. ``port`` is the effective port."""

    scheme: str
    host: str
    port: str
    segments: Tuple[str, ...]


def read_url(text: str) -> Optional[Url]:
    """Parse a URL; ``None`` if the string is not a valid URL."""
    match = _URL.fullmatch(text)
    if match is None or not is_host(match["host"]):
        return None
    default = _DEFAULT_PORTS[match["scheme"]]
    if match["port"] is not None and (not _is_port(match["port"]) or match["port"] == default):
        return None
    segments = _segments(match["path"])
    if segments is None:
        return None
    return Url(match["scheme"], match["host"], match["port"] or default, segments)


def _is_port(text: str) -> bool:
    return _PORT.fullmatch(text) is not None and int(text) <= 65535


def _segments(path: str) -> Optional[Tuple[str, ...]]:
    """Split a path into its segments, without a final ``/``.

    Each character has only one spelling, so equal segments are equal strings.
    """
    if path == "/":
        return ()
    segments = path[1:].split("/")
    if segments[-1] == "":
        segments.pop()
    if not all(_is_url_segment(segment, at == 0) for at, segment in enumerate(segments)):
        return None
    return tuple(segments)


def _is_url_segment(segment: str, first: bool) -> bool:
    if _CHARACTERS.fullmatch(segment) is None:
        return False
    if any(_NEVER_ESCAPED.match(chr(int(code, 16))) for code in _ESCAPE.findall(segment)):
        return False
    decoded = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), segment).encode("latin-1")
    try:
        return _is_decoded_segment(decoded.decode("utf-8"), first)
    except UnicodeDecodeError:
        return False


def _is_decoded_segment(text: str, first: bool) -> bool:
    return _LOOKALIKES.search(text) is None and is_segment(text, first)


def url_problems(value: Json, rule: str) -> List[Problem]:
    """Return the problems of the value of the operator ``url``."""
    if not isinstance(value, dict) or "schemes" not in value or "hosts" not in value:
        problems = [malformed(rule)]
    else:
        problems = []
    for name, part in value.items() if isinstance(value, dict) else ():
        if name not in _PARTS:
            problems.append(unknown(f"{rule}.{name}"))
        elif not _is_part(name, part):
            problems.append(malformed(f"{rule}.{name}"))
    return problems


def _is_part(name: str, value: Any) -> bool:
    if name == "path":
        return (
            isinstance(value, str)
            and value.startswith("/")
            and (value == "/" or not value.endswith("/"))
            and _segments(value) is not None
        )
    if not is_set(value):
        return False
    if name == "schemes":
        return all(scheme in _DEFAULT_PORTS for scheme in value)
    if name == "ports":
        return all(_is_port(port) for port in value)
    return all(is_host(host) or is_suffix(host) for host in value)


def allows_url(allowed: Any, text: str) -> bool:
    """Return whether a string is a URL whose parts the operand ``allowed`` allows."""
    url = read_url(text)
    if url is None or url.scheme not in allowed["schemes"]:
        return False
    if not any(host == url.host or _is_below(url.host, host) for host in allowed["hosts"]):
        return False
    if url.port not in allowed.get("ports", [_DEFAULT_PORTS[url.scheme]]):
        return False
    return begins(url.segments, _segments(allowed.get("path", "/")) or ())


def _is_below(host: str, suffix: str) -> bool:
    return suffix.startswith(".") and is_below(host, suffix)
