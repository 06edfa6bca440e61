"""How ids and hashes are made: of events and memories, of content, of anchors that are derived."""

import hashlib

from ulid import ULID


def new_ulid() -> str:
    """A fresh ULID: 26 characters, sortable by the time they were made."""
    return str(ULID())


def stable_ulid(milliseconds: int, *parts: str) -> str:
    """The ULID of that time whose other 80 bits are a hash of the parts: the same wherever it is made."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return str(ULID.from_bytes(milliseconds.to_bytes(6, "big") + digest[:10]))


def short_hash(*parts: str) -> str:
    """First 16 hex digits of sha256 over the parts, joined by NUL; lone surrogates are allowed."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def content_hash(text: str) -> str:
    """First 16 hex digits of sha256 over the raw content."""
    return short_hash(text)


def derived_anchor_id(memory: str, file: str, qualname: str, ordinal: int, rule: str) -> str:
    """The id of the anchor that a derived link gets: the same in every process that derives the same link."""
    return short_hash(memory, file, qualname, str(ordinal), rule)
