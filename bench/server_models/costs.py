"""What the samples mean: medians, ratios to nginx, and the bars. Pure arithmetic.

`results` is {(kind, load): {server: Summary}}, with only the servers that worked.
"""

from dataclasses import dataclass
from statistics import median

from side_by_side.bars import Bar

EPOLL = ["epoll-lt", "epoll-et"]


@dataclass
class Summary:
    """Medians of the runs of one load against one server."""

    cpu_us: float
    cpu_us_least: float
    cpu_us_most: float
    rate_per_s: float
    busy: float
    runs: int
    runs_left_out: int


def summarize(samples):
    """Medians over the samples without a problem; None if there is none."""
    good = [sample for sample in samples if sample.problem is None]
    if not good:
        return None
    cpu = [sample.cpu_us for sample in good]
    return Summary(cpu_us=median(cpu), cpu_us_least=min(cpu), cpu_us_most=max(cpu),
                   rate_per_s=median(sample.rate_per_s for sample in good),
                   busy=median(sample.busy for sample in good),
                   runs=len(good), runs_left_out=len(samples) - len(good))


def ratio(servers, name, to="nginx"):
    """CPU per request of one server over that of another; None if one is missing."""
    if name not in servers or to not in servers:
        return None
    return servers[name].cpu_us / servers[to].cpu_us


def bytes_per_connection(before_kib, after_kib, connections):
    """Memory that each idle connection added."""
    return (after_kib - before_kib) * 1024 / connections


def check(results):
    """The bars for every kind of work and load that was run."""
    bars = []
    for (kind, load), servers in results.items():
        work = f"{kind}, {load}"
        most = 0.85 if kind == "keep-alive" else 0.95
        bars.append(bar(work, servers, EPOLL, most, "nginx"))
        bars.append(bar(work, servers, ["uring"], most, "nginx"))
        if kind == "keep-alive":
            bars.append(bar(work, servers, ["async"], 1.1, "nginx"))
            bars.append(bar(work, servers, ["fiber-asm"], 1.15, "epoll-et"))
    return bars


def bar(work, servers, names, most, to):
    """The best of the names costs at most so much of what another costs; missing is not met."""
    who = names[0] if len(names) == 1 else f"the best of {', '.join(names)}"
    must = f"CPU per request of {who} at most {most:.2f} of {to}'s"
    absent = [name for name in [*names, to] if name not in servers]
    if absent:
        return Bar(work, must, "-", f"not met ({', '.join(absent)} missing)")
    best = min(names, key=lambda name: servers[name].cpu_us)
    found = ratio(servers, best, to)
    measured = f"{found:.3f} ({best} {servers[best].cpu_us:.2f}, {to} {servers[to].cpu_us:.2f} µs)"
    return Bar(work, must, measured, "met" if found <= most else "not met")
