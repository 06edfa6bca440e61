"""Errors that a user can act on.

MnemolensError
├── InvalidArgument   an argument is missing or wrong; names the field
├── NotFound          no memory, anchor or folder of that name
├── OutOfScope        a file outside the folders that are open
├── EmbedderUnavailable   no vectors can be made; text search is not concerned
├── GraphUnavailable  the graph database is off or not built yet; the memories are not concerned
└── StoreError        the journal can't be written; what was acknowledged is safe
"""


class MnemolensError(Exception):
    """Base of all errors whose message is meant for the user."""


class InvalidArgument(MnemolensError):
    """An argument is missing or wrong.

    Attributes:
        field: the argument's name as the caller wrote it (camelCase on the wire).
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class NotFound(MnemolensError):
    """Nothing is stored under the id that was given."""


class OutOfScope(MnemolensError):
    """The file lies outside every open folder."""


class StoreError(MnemolensError):
    """The journal can't be written: disk full, no permission, a read-only folder."""


class GraphUnavailable(MnemolensError):
    """The graph database can't be asked: it is not installed, or can be kept nowhere; says why."""


class EmbedderUnavailable(MnemolensError):
    """No vectors can be made: a package or model is missing, an endpoint is down or answers garbage."""
