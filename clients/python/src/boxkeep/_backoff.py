"""Waits between attempts: briefly at first, because a daemon that died is back within milliseconds, then longer."""

from __future__ import annotations

import random
import time

FIRST_S = 0.02
LONGEST_S = 1.0


class Backoff:
    """Counts the time since the first failure in a row, and gives up after `budget_s`."""

    def __init__(self, budget_s: float) -> None:
        self._budget_s = budget_s
        self.reset()

    def reset(self) -> None:
        """An attempt has succeeded."""
        self._next_s = FIRST_S
        self._deadline: float | None = None

    def pause_s(self, least_s: float) -> float | None:
        """How long to wait now, or None when the budget is used up. The daemon asks for `least_s`."""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._budget_s
        # Randomized, so that a hundred clients do not come back at the same moment.
        pause_s = max(least_s * (1 + random.random() / 4), self._next_s * (0.75 + random.random() / 2))
        self._next_s = min(self._next_s * 2, LONGEST_S)
        return None if now + pause_s > self._deadline else pause_s
