"""Mnemolens keeps what is learned about code on the code it is about, and shows it where people work.

What programs use stands here, and is loaded when it is first asked for: `import mnemolens` alone loads
nothing.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "CodeGraph",
    "GraphUnavailable",
    "InvalidArgument",
    "KuzuBackend",
    "MemoryEntry",
    "MemoryQuery",
    "MemoryType",
    "MnemolensError",
    "NotFound",
    "SessionInfo",
    "StoreError",
    "__version__",
]

if TYPE_CHECKING:
    from mnemolens.api.backend import KuzuBackend
    from mnemolens.api.code_graph import CodeGraph
    from mnemolens.api.models import MemoryEntry, MemoryQuery, MemoryType, SessionInfo
    from mnemolens.core.errors import (
        GraphUnavailable,
        InvalidArgument,
        MnemolensError,
        NotFound,
        StoreError,
    )

_LOADED_FROM = {
    "CodeGraph": "mnemolens.api.code_graph",
    "GraphUnavailable": "mnemolens.core.errors",
    "InvalidArgument": "mnemolens.core.errors",
    "KuzuBackend": "mnemolens.api.backend",
    "MemoryEntry": "mnemolens.api.models",
    "MemoryQuery": "mnemolens.api.models",
    "MemoryType": "mnemolens.api.models",
    "MnemolensError": "mnemolens.core.errors",
    "NotFound": "mnemolens.core.errors",
    "SessionInfo": "mnemolens.api.models",
    "StoreError": "mnemolens.core.errors",
}


def __getattr__(name: str) -> Any:
    module = _LOADED_FROM.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
