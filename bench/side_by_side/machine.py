"""The machine a table was measured on, and the versions of what ran there."""

import os
import platform
import re


def describe():
    """CPU model, CPUs, memory and kernel; nothing that names the machine or its owner."""
    return {
        "cpu_model": cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": f"{platform.system()} {release()}",
        "load_before": round(os.getloadavg()[0], 2),
    }


def release():
    """Version of the kernel, without what the builder of it added."""
    found = re.match(r"\d+\.\d+(\.\d+)?", platform.release())
    return found[0] if found else platform.release()


def cpu_model():
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            for line in cpuinfo:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def slug(machine):
    """A file name's worth of it: `amd-epyc-2-cpus`."""
    text = f"{machine['cpu_model']} {machine['cpus']} cpus"
    text = re.sub(r"\((r|tm)\)|cpu @.*?(?= \d+ cpus)|processor", "", text, flags=re.I)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
