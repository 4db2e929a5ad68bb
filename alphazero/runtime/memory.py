"""Settings of the C library's memory allocator."""

import ctypes
import sys

# glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, from its malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_freed_memory() -> None:
    """Make glibc keep up to 1 GB of freed memory for the next arrays; without glibc, do nothing.

    By default glibc returns every large array to the system and requests it again. That costs 3,600
    page faults in a learner step (4 x 48 network, 256 samples), a tenth of its time. Peak memory
    stays the same: 618 and 623 MB in two runs of three iterations without this setting, 633 and
    626 MB with it. 32 MB is the largest threshold that every glibc accepts; larger arrays are
    returned as before.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 32 << 20)
        mallopt(_TRIM_THRESHOLD, 1 << 30)
