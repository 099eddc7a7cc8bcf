"""pymacaroons behind the protocol of ../children.mjs."""
import sys
import time

from pymacaroons import Macaroon, Verifier

pools = []
key = b""
for line in sys.stdin:
    op, *rest = line.split()
    if op == "key":
        key = bytes.fromhex(rest[0])
        print(0, flush=True)
    elif op == "load":
        pools.append([sys.stdin.readline().strip() for _ in range(int(rest[0]))])
        print(len(pools) - 1, flush=True)
    else:
        tokens, end = pools[int(rest[0])], float(rest[1]) / 1000
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < end:
            macaroon = Macaroon.deserialize(tokens[done % len(tokens)])
            verifier = Verifier()
            verifier.satisfy_general(lambda caveat: True)
            if not verifier.verify(macaroon, key):
                sys.exit("refused")
            done += 1
        print((time.perf_counter() - began) * 1e9 / done, flush=True)
