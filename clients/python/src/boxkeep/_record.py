"""Objects of answers, whose fields are attributes and items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._wire import optional_fields

# The description of the daemon does not say what MCP answers.
optional_in_mcp = frozenset({"annotations", "data", "description", "isError", "mimeType", "structuredContent", "text"})


class Record(dict[str, Any]):
    """An object of an answer: `run.stdout` and `run["stdout"]` are the same. Fields of a newer daemon are kept."""

    __slots__ = ()

    # Type checkers read the fields from the classes of `boxkeep.types`, so that they find a wrong name.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in self:
                return self[name]
            if name in optional_fields or name in optional_in_mcp:
                return None
            raise AttributeError(f"the answer has no field {name}; it has {', '.join(self)}")
