"""Reads URLs and paths by the Python checker and by Python's own library, one JSON object per line.

The first argument is the folder of the checker. A line has ``url``, or ``path`` and ``root``, the folder against
which a relative path is resolved. An answer is ``null`` if the checker does not accept the URL or path. For a URL it
has ``scheme``, ``host``, ``port`` and ``path`` as :func:`urllib.parse.urlsplit` reads them; for a path, the answer is
the normalized path.
"""

import json
import posixpath
import sys
from urllib.parse import urlsplit

sys.path.insert(0, sys.argv[1])

from proviso_check.paths import read_path  # noqa: E402
from proviso_check.urls import read_url  # noqa: E402


def read(asked):
    """Return the answer to one line."""
    if "url" not in asked:
        if read_path(asked["path"]) is None:
            return None
        return posixpath.normpath(posixpath.join(asked["root"], asked["path"]))
    if read_url(asked["url"]) is None:
        return None
    url = urlsplit(asked["url"])
    assert url.username is None and url.password is None
    return {"scheme": url.scheme, "host": url.hostname, "port": url.port, "path": url.path}


for line in sys.stdin:
    sys.stdout.write(json.dumps(read(json.loads(line))) + "\n")
    sys.stdout.flush()
