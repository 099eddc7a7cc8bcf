"""The entry points of the checker: ``verify`` for a macaroon's signatures, ``check`` for a capability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Tuple, Union

from .grant import KnownGrants, acting_grants, judge_grant
from .hop import read_hop, read_identifier
from .judge import Denial, Invocation, judge
from .limits import TOO_LARGE_CODES, FormError
from .macaroon import Token
from .revocation import check_list, revocation_id, revoked
from .service_key import find_key, service_of
from .signatures import SignatureError, verify_signatures
from .wire import read_capability, read_token


@dataclass(frozen=True)
class Valid:
    """The token is valid. ``tags`` has the tags of the token, then those of each discharge, before binding."""

    tags: Tuple[Tuple[bytes, ...], ...]


@dataclass(frozen=True)
class Invalid:
    """The token is invalid, with a code of sections 2 to 4."""

    code: str


@dataclass(frozen=True)
class Allowed:
    """The invocation is allowed. The revocation ids are those of the token's own chain."""

    revocation_ids: Tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """The invocation is refused, for at least one reason."""

    denials: Tuple[Denial, ...]


def verify(token_text: str, key: bytes) -> Union[Valid, Invalid]:
    """Read a token, and verify every signature. Caveats are not judged."""
    try:
        tags = verify_signatures(read_token(token_text), key)
    except (FormError, SignatureError) as error:
        return Invalid(error.code)
    return Valid(tuple(tuple(chain) for chain in tags))


def check(
    token_text: str,
    invocation: Invocation,
    issuer: str,
    keys: Mapping[str, bytes],
    revocations: Mapping[str, Any],
    now: str,
    grants: Optional[KnownGrants] = None,
) -> Union[Allowed, Refused]:
    """Check an invocation by section 7. ``now`` is the checker's time; ``grants`` are the issuer's known grants.

    Raises :class:`Misuse` for an invocation without a grant under which the service can act, and
    :class:`MalformedList` for a malformed list. Both are raised before the token is read.
    """
    acting = acting_grants(invocation, grants)
    check_list(revocations)
    moment = now if invocation.time is None else invocation.time
    try:
        token = read_capability(token_text)
    except FormError as error:
        return _refused(Denial(_form_code(error.code), rule=error.code, message=error.code))
    identifier = read_identifier(token.root.identifier)
    if identifier is None:
        return _refused(Denial("token_malformed", rule="identifier_malformed"))
    if identifier["iss"] != issuer:
        return _refused(Denial("foreign_issuer", message="another issuer made this"))
    kid = str(identifier["kid"])
    key = find_key(kid, keys)
    if key is None:
        return _refused(Denial("unknown_key", message="there is no such key"))
    try:
        tags = verify_signatures(token, key)
    except SignatureError as error:
        return _refused(_signature_denial(error))
    # The later time has the greater string.
    denials = revoked(revocations, tags, identifier, max(now, moment))
    denials.extend(judge_grant(str(identifier["grant"]), invocation.operation, acting, grants))
    service = service_of(kid)
    if service is not None and service != invocation.audience:
        denials.append(Denial("audience_denied", 0, rule="kid", message="made for another service"))
    denials.extend(_rules(token, invocation, moment))
    if denials:
        return Refused(tuple(denials))
    return Allowed(tuple(revocation_id(tag) for tag in tags[0]))


def _refused(denial: Denial) -> Refused:
    return Refused((denial,))


def _form_code(code: str) -> str:
    """Convert a code of section 3 or 4 to a code of section 7."""
    if code == "truncated":
        return "token_truncated"
    return "token_too_large" if code in TOO_LARGE_CODES else "token_malformed"


def _signature_denial(error: SignatureError) -> Denial:
    """Convert an error of section 2 to a denial of section 7."""
    code = error.code
    if code not in ("signature_mismatch", "discharge_missing"):
        code = "discharge_invalid"
    return Denial(code, error.hop, error.discharge, error.code, error.code)


def _rules(token: Token, invocation: Invocation, now: str) -> List[Denial]:
    """Judge every first-party caveat of every macaroon, in order (step 6)."""
    denials: List[Denial] = []
    expires = False
    for index, macaroon in enumerate((token.root,) + token.discharges):
        discharge: Optional[int] = index or None
        for link, caveat in enumerate(macaroon.caveats, start=1):
            if caveat.vid is not None:
                continue
            hop, problems = read_hop(caveat.identifier)
            for problem in problems:
                denials.append(Denial(problem.code, link, discharge, problem.rule))
            if hop is None:
                continue
            expires = expires or (discharge is None and "expires" in hop)
            following = len(macaroon.caveats) - link
            denials.extend(judge(hop, invocation, now, link, following, discharge))
    if not expires:
        denials.append(Denial("expiry_missing", message="the token never expires"))
    return denials
