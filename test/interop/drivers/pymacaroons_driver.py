"""Answers the requests of the protocol in README.md with pymacaroons, in all four forms."""
import base64
import json
import sys

from pymacaroons import MACAROON_V1, MACAROON_V2, Macaroon, Verifier
from pymacaroons.serializers import BinarySerializer, JsonSerializer


def to_bytes(text):
    return base64.urlsafe_b64decode((text or "") + "=" * (-len(text or "") % 4))


def is_json(text):
    return text.startswith("{")


def read(text):
    return Macaroon.deserialize(text, JsonSerializer() if is_json(text) else BinarySerializer())


def write(macaroon, as_json):
    return {"text": macaroon.serialize(JsonSerializer() if as_json else BinarySerializer())}


def create(request):
    return write(
        Macaroon(
            location=to_bytes(request["location"]),
            identifier=to_bytes(request["identifier"]),
            key=to_bytes(request["key"]),
            version=MACAROON_V1 if request["format"].startswith("v1") else MACAROON_V2,
        ),
        request["format"].endswith("json"),
    )


def append(request):
    macaroon = read(request["macaroon"])
    macaroon.add_first_party_caveat(to_bytes(request["caveat"]))
    return write(macaroon, is_json(request["macaroon"]))


def third_party(request):
    macaroon = read(request["macaroon"])
    macaroon.add_third_party_caveat(
        to_bytes(request["location"]), to_bytes(request["key"]), to_bytes(request["identifier"])
    )
    return write(macaroon, is_json(request["macaroon"]))


def bind(request):
    bound = read(request["macaroon"]).prepare_for_request(read(request["discharge"]))
    return write(bound, is_json(request["discharge"]))


def convert(request):
    macaroon = read(request["macaroon"])
    version = MACAROON_V1 if request["format"].startswith("v1") else MACAROON_V2
    if macaroon.version != version:
        raise ValueError("convert can not change the version")
    return write(macaroon, request["format"].endswith("json"))


def verify(request):
    macaroon = read(request["macaroon"])
    discharges = [read(text) for text in request["discharges"]]
    known = request.get("satisfied")
    known = None if known is None else {to_bytes(one).decode() for one in known}
    verifier = Verifier()
    verifier.satisfy_general(lambda caveat: known is None or caveat in known)
    try:
        return {"valid": bool(verifier.verify(macaroon, to_bytes(request["key"]), discharges))}
    except Exception as error:  # The exceptions for an invalid macaroon have no common base class.
        return {"valid": False, "error": repr(error)}


OPERATIONS = {
    "create": create,
    "append": append,
    "thirdParty": third_party,
    "bind": bind,
    "convert": convert,
    "verify": verify,
}

for line in sys.stdin:
    try:
        request = json.loads(line)
        answer = {"ok": True, **OPERATIONS[request["op"]](request)}
    except Exception as error:
        answer = {"ok": False, "error": repr(error)}
    print(json.dumps(answer), flush=True)
