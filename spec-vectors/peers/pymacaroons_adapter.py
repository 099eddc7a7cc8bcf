"""pymacaroons behind the ``verify`` operation of the vectors' protocol (../README.md).

It exposes no tags and has no codes of the specification's, so only its verdicts can be compared.
"""
import base64
import json
import sys

from pymacaroons import Macaroon, Verifier
from pymacaroons.serializers import BinarySerializer, JsonSerializer


def read(text):
    """The macaroons in a text. The library reads one at a time, so a JSON array is taken apart here."""
    start = text.lstrip(" \t\n\r")[:1]
    if start == "[":
        return [Macaroon.deserialize(json.dumps(one), JsonSerializer()) for one in json.loads(text)]
    return [Macaroon.deserialize(text, JsonSerializer() if start == "{" else BinarySerializer())]


def verify(request):
    key = request["key"]
    root, *discharges = read(request["token"])
    verifier = Verifier()
    # Every caveat holds but the one that says it does not.
    verifier.satisfy_general(lambda caveat: caveat != "unmet")
    verifier.verify(root, base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)), discharges)
    return {"result": "valid", "tags": []}


def answer(request):
    if request["op"] != "verify":
        return {"unsupported": request["op"]}
    try:
        return verify(request)
    except Exception as error:  # Its exceptions have no common base.
        return {"result": "invalid", "code": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], **answer(asked)}), flush=True)
