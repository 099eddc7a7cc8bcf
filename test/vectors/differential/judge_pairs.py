"""Judges pairs of a hop and a call by the Python checker, one JSON object per line.

The first argument is the folder of the checker. A line has ``hop``, ``operation`` and ``arguments``; ``hop`` and
``arguments`` are strings that contain JSON. An answer is an array of strings: the code of section 4 for a hop over a limit,
the codes of the hop's problems, or the denials.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])

from proviso_check import Invocation  # noqa: E402
from proviso_check.hop import read_hop  # noqa: E402
from proviso_check.jcs import code_units  # noqa: E402
from proviso_check.judge import judge  # noqa: E402
from proviso_check.limits import FormError  # noqa: E402
from proviso_check.nesting import scan_hop  # noqa: E402


def judged(pair):
    """Return the outcome for one pair."""
    caveat = pair["hop"].encode("utf-8")
    try:
        scan_hop(caveat)
    except FormError as error:
        return [error.code]
    hop, problems = read_hop(caveat)
    if hop is None:
        return sorted({problem.code for problem in problems})
    arguments = json.loads(pair["arguments"], parse_int=float)
    denials = judge(hop, Invocation(pair["operation"], (), arguments), "2026-01-01T00:00:00Z", 1, 0)
    return sorted({f"{denial.code} {denial.rule}" for denial in denials}, key=code_units)


for line in sys.stdin:
    sys.stdout.write(json.dumps(judged(json.loads(line))) + "\n")
    sys.stdout.flush()
