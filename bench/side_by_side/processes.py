"""Processes this bench started: their CPU time, their children, their end."""

import subprocess
import time


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as text:
        return [int(word) for word in text.read().split()]


def process_cpu_s(pid):
    """The process's CPU clock, in nanoseconds: clock_getcpuclockid(3) makes this number."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def end(process):
    """Asks it to stop, and ends it if it does not."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdout, process.stderr):
        stream.close()
