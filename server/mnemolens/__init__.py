"""Mnemolens keeps what is learned about code on the code it is about, and shows it where people work.

What programs use stands here, and is loaded when it is first asked for: `import mnemolens` alone loads
nothing.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "ActivatedNode",
    "CodeGraph",
    "CodeLink",
    "GraphUnavailable",
    "HierarchicalRetriever",
    "InvalidArgument",
    "KuzuBackend",
    "MemoryCluster",
    "MemoryEdge",
    "MemoryEdgeType",
    "MemoryEntry",
    "MemoryGraph",
    "MemoryGraphNodeMeta",
    "MemoryLayer",
    "MemoryPreview",
    "MemoryQuery",
    "MemoryStorage",
    "MemoryTrace",
    "MemoryType",
    "MnemolensError",
    "NotFound",
    "SessionInfo",
    "SimilarMemory",
    "SpreadingActivationConfig",
    "StoreError",
    "StoredMemory",
    "TimeDecayMemoryManager",
    "__version__",
]

if TYPE_CHECKING:
    from mnemolens.api.backend import KuzuBackend
    from mnemolens.api.code_graph import CodeGraph
    from mnemolens.api.graph_values import (
        ActivatedNode,
        MemoryCluster,
        MemoryEdge,
        MemoryEdgeType,
        MemoryGraphNodeMeta,
        SpreadingActivationConfig,
    )
    from mnemolens.api.memory_graph import MemoryGraph
    from mnemolens.api.memory_storage import MemoryStorage, StoredMemory
    from mnemolens.api.models import (
        CodeLink,
        MemoryEntry,
        MemoryPreview,
        MemoryQuery,
        MemoryType,
        SessionInfo,
        SimilarMemory,
    )
    from mnemolens.api.time_decay import (
        HierarchicalRetriever,
        MemoryLayer,
        MemoryTrace,
        TimeDecayMemoryManager,
    )
    from mnemolens.core.errors import GraphUnavailable, InvalidArgument, MnemolensError, NotFound, StoreError

_LOADED_FROM = {
    "ActivatedNode": "mnemolens.api.graph_values",
    "CodeGraph": "mnemolens.api.code_graph",
    "CodeLink": "mnemolens.api.models",
    "GraphUnavailable": "mnemolens.core.errors",
    "HierarchicalRetriever": "mnemolens.api.time_decay",
    "InvalidArgument": "mnemolens.core.errors",
    "KuzuBackend": "mnemolens.api.backend",
    "MemoryCluster": "mnemolens.api.graph_values",
    "MemoryEdge": "mnemolens.api.graph_values",
    "MemoryEdgeType": "mnemolens.api.graph_values",
    "MemoryEntry": "mnemolens.api.models",
    "MemoryGraph": "mnemolens.api.memory_graph",
    "MemoryGraphNodeMeta": "mnemolens.api.graph_values",
    "MemoryLayer": "mnemolens.api.time_decay",
    "MemoryPreview": "mnemolens.api.models",
    "MemoryQuery": "mnemolens.api.models",
    "MemoryStorage": "mnemolens.api.memory_storage",
    "MemoryTrace": "mnemolens.api.time_decay",
    "MemoryType": "mnemolens.api.models",
    "MnemolensError": "mnemolens.core.errors",
    "NotFound": "mnemolens.core.errors",
    "SessionInfo": "mnemolens.api.models",
    "SimilarMemory": "mnemolens.api.models",
    "SpreadingActivationConfig": "mnemolens.api.graph_values",
    "StoreError": "mnemolens.core.errors",
    "StoredMemory": "mnemolens.api.memory_storage",
    "TimeDecayMemoryManager": "mnemolens.api.time_decay",
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
