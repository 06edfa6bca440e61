"""File URIs and paths, both ways. Other schemes have no path: whoever asks gets None.

Does not look at the disk, and does not know folders.
"""

import os
import sys
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

_SCHEME = "file:"
_KEPT = "/:@!$&'()*+,;=~-._"
"""Characters that may stand in a URI path as they are."""


def path_of_uri(uri: str) -> Path | None:
    """The absolute path of a `file:` URI; None for every other scheme and for what is no absolute path.

    `#` and `?` that a client forgot to encode are taken as part of the name: a document has neither
    fragment nor query.
    """
    if uri[: len(_SCHEME)].lower() != _SCHEME:
        return None
    rest = uri[len(_SCHEME) :]
    host = ""
    if rest.startswith("//"):
        host, slash, tail = rest[2:].partition("/")
        rest = slash + tail
    raw = unquote_to_bytes(rest)
    if b"\0" in raw or not raw.startswith(b"/"):
        return None
    text = os.fsdecode(raw)
    if sys.platform == "win32":
        return _windows_path(host, text)
    if host.lower() not in {"", "localhost"}:
        return None
    return Path(os.path.normpath("/" + text.lstrip("/")))


def _windows_path(host: str, text: str) -> Path | None:
    if host.lower() not in {"", "localhost"}:
        return Path(f"//{host}{text}")
    drive = text.lstrip("/")
    if len(drive) < 2 or drive[1] != ":":
        return None
    return Path(os.path.normpath(drive))


def uri_of_path(path: Path) -> str:
    """The `file:` URI of an absolute path, everything encoded that a URI can't hold."""
    text = path.as_posix()
    if text.startswith("//"):
        return _SCHEME + quote_from_bytes(os.fsencode(text), _KEPT)
    return _SCHEME + "//" + quote_from_bytes(os.fsencode(text if text.startswith("/") else "/" + text), _KEPT)
