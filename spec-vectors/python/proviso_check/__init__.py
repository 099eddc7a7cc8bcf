"""A strict checker of proviso capabilities, version 2, written from ``docs/spec.md`` alone.

There are two entry points. Neither raises because of a token:

* :func:`proviso_check.check.check` decides about a capability and an invocation;
* :func:`proviso_check.check.verify` reads a generic macaroon and verifies its signatures.
"""

from .check import Allowed, Invalid, Refused, Valid, check, verify
from .grant import Misuse
from .judge import Denial, Invocation

__all__ = [
    "Allowed", "Denial", "Invalid", "Invocation", "Misuse", "Refused", "Valid", "check", "verify",
]
