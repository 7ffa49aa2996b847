"""The lock of sessions: mutual exclusion, and turns."""

from __future__ import annotations

import threading
import time

from treetop.serve.locks import FairLock


def test_who_waits_gets_the_lock_before_its_holder_gets_it_again():
    lock, log = FairLock(), []

    def wait():
        with lock:
            log.append("waiter")

    for _ in range(20):
        lock.acquire()
        thread = threading.Thread(target=wait)
        thread.start()
        while not lock._next.locked():  # until it waits
            time.sleep(0.001)
        lock.release()
        with lock:
            assert log.pop() == "waiter"
        thread.join()


def test_one_thread_holds_it_at_a_time():
    lock, counts = FairLock(), [0, 0]

    def use():
        for _ in range(300):
            with lock:
                counts[0] += 1
                held = counts[0]
                time.sleep(0)
                counts[1] += counts[0] != held

    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1800, 0]


def test_waiting_ends_after_its_time():
    lock = FairLock()
    with lock:
        found = []
        thread = threading.Thread(target=lambda: found.append(lock.acquire(timeout=0.05)))
        thread.start()
        thread.join()
        assert found == [False]
    assert lock.acquire(blocking=False)
