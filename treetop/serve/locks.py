"""A lock for a thread that holds it almost always, such as one that searches slice after slice."""

from __future__ import annotations

import threading


class FairLock:
    """A lock that its last holder does not get again while another thread waits for it.

    With an ordinary lock a thread that releases it and acquires it again at once mostly wins, and others wait long.

    >>> lock = FairLock()
    >>> with lock:
    ...     lock.acquire(blocking=False)
    False
    """

    def __init__(self) -> None:
        self._next, self._held = threading.Lock(), threading.Lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock, as `threading.Lock.acquire` does; return whether it was acquired."""
        if not self._next.acquire(blocking, timeout):
            return False
        try:
            return self._held.acquire(blocking, timeout)
        finally:
            self._next.release()

    def release(self) -> None:
        """Release the lock."""
        self._held.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
