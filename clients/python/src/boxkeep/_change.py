"""What a watch of files, or of the activity, reports besides the events of the daemon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Lost:
    """Events may have been missed, because they came too fast or the daemon was replaced. Later events are whole.

    After a watch, what was known of the tree is void: list it again.
    """

    type: Literal["lost"] = "lost"
