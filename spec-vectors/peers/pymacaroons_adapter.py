"""pymacaroons as an implementation for the vectors' ``verify`` operation (../README.md).

It exposes no tags and lacks the specification's codes. Only its verdicts can be compared.
"""
import base64
import json
import sys

from pymacaroons import Macaroon, Verifier
from pymacaroons.serializers import BinarySerializer, JsonSerializer


def read(text):
    """Return the macaroons in a text. pymacaroons reads one macaroon at a time, so this splits a JSON array."""
    start = text.lstrip(" \t\n\r")[:1]
    if start == "[":
        return [Macaroon.deserialize(json.dumps(one), JsonSerializer()) for one in json.loads(text)]
    return [Macaroon.deserialize(text, JsonSerializer() if start == "{" else BinarySerializer())]


def verify(request):
    key = request["key"]
    root, *discharges = read(request["token"])
    verifier = Verifier()
    # Accepts every caveat except "unmet".
    verifier.satisfy_general(lambda caveat: caveat != "unmet")
    verifier.verify(root, base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)), discharges)
    return {"result": "valid", "tags": []}


def answer(request):
    if request["op"] != "verify":
        return {"unsupported": request["op"]}
    try:
        return verify(request)
    except Exception as error:  # The library's exceptions have no common base class.
        return {"result": "invalid", "code": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], **answer(asked)}), flush=True)
