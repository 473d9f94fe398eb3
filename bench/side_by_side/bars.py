"""What ablaze must reach, as numbers, and whether it does. A bar whose peer is missing is not met.

`results` is {row name: {tool name: Summary}}, with only the tools that worked in that row.
"""

from dataclasses import dataclass
from statistics import median

MIB_KIB = 1024


@dataclass
class Summary:
    """Medians of the repeats of one tool in one row, with the extremes of CPU per request."""

    cpu_us: float
    cpu_us_least: float
    cpu_us_most: float
    user_us: float
    system_us: float
    rate_per_s: float
    mean_us: float | None
    p50_us: float | None
    p99_us: float | None
    vmhwm_kib: int
    answers: int
    runs: int
    runs_left_out: int
    # Share of one CPU that the server used meanwhile.
    server_busy: float | None
    # CPU time of the client outside the requests, ms, and of both for each response.
    client_start_ms: float | None
    client_end_ms: float | None
    client_window_us: float | None
    server_window_us: float | None


@dataclass
class Bar:
    """One requirement and what was measured."""

    work: str
    must: str
    measured: str
    outcome: str

    @property
    def met(self):
        return self.outcome == "met"


def summarize(samples):
    """Medians over the samples that have no problem; None if there is none."""
    good = [sample for sample in samples if sample.problem is None]
    if not good:
        return None

    def middle(values):
        values = [value for value in values if value is not None]
        return median(values) if values else None

    cpu = [sample.cpu_us for sample in good]
    return Summary(
        cpu_us=median(cpu), cpu_us_least=min(cpu), cpu_us_most=max(cpu),
        user_us=middle([s.user_us for s in good]), system_us=middle([s.system_us for s in good]),
        rate_per_s=middle([s.rate_per_s for s in good]),
        mean_us=middle([s.mean_us for s in good]),
        p50_us=middle([s.p50_us for s in good]), p99_us=middle([s.p99_us for s in good]),
        vmhwm_kib=max(s.vmhwm_kib for s in good), answers=int(median([s.answers for s in good])),
        runs=len(good), runs_left_out=len(samples) - len(good),
        server_busy=middle([s.server_busy for s in good]),
        client_start_ms=middle([s.phases.start_s * 1e3 for s in good if s.phases]),
        client_end_ms=middle([s.phases.end_s * 1e3 for s in good if s.phases]),
        client_window_us=middle([s.phases.window_s * 1e6 / s.answers for s in good if s.phases]),
        server_window_us=middle([s.phases.server_s * 1e6 / s.answers for s in good if s.phases]),
    )


def check(results, rows):
    """All bars that belong to the rows that were run."""
    run = {row.name for row in rows}
    bars = []

    def cpu(row, title, most, peers):
        if row in run:
            bars.append(cpu_bar(results.get(row, {}), title, most, peers))

    cpu("keep-alive-100", "keep-alive, c=100", 0.85, ["wrk"])
    cpu("keep-alive-100", "keep-alive, c=100", 0.80, ["ab"])
    cpu("keep-alive-100", "keep-alive, c=100", 0.95, ["shb"])
    cpu("close", "a connection per request, c=100", 0.72, ["ab"])
    cpu("close", "a connection per request, c=100", 0.72, ["wrk"])
    cpu("close", "a connection per request, c=100", 0.95, ["shb"])
    cpu("body-1m", "1 MiB bodies, c=10", 0.35, ["ab", "wrk", "shb"])
    cpu("body-1m", "1 MiB bodies, c=10", 0.80, ["oha"])
    cpu("body-48k", "48,576-byte bodies, c=10", 0.65, ["ab", "wrk", "shb"])
    for own in ("", "-own"):
        title = ", ablaze serve" if own else ""
        cpu("tls-keep-alive" + own, "TLS keep-alive, c=100" + title, 0.85, ["wrk"])
        cpu("tls-keep-alive" + own, "TLS keep-alive, c=100" + title, 0.95, ["shb"])
        cpu("tls-handshake" + own, "TLS handshake per request, verified" + title, 0.75, ["wrk"])
        cpu("tls-handshake" + own, "TLS handshake per request, verified" + title, 0.35, ["ab"])
        cpu("tls-handshake-any" + own, "TLS handshake per request, any certificate" + title, 0.95, ["shb"])
        cpu("tls-body-1m" + own, "1 MiB bodies over TLS, c=10" + title, 0.80, ["wrk", "shb"])
        cpu("h2-tls" + own, "HTTP/2 over TLS, c=10, 10 streams" + title, 0.70, ["h2load"])
        cpu("h2-tls" + own, "HTTP/2 over TLS, c=10, 10 streams" + title, 1.00, ["shb"])
        cpu("h2c" + own, "HTTP/2 without TLS, c=10, 100 streams" + title, 0.18, ["h2load"])
        cpu("h2c" + own, "HTTP/2 without TLS, c=10, 100 streams" + title, 0.95, ["shb"])
    if "keep-alive-1" in run:
        bars.append(rate_bar(results.get("keep-alive-1", {}), 2.1, "wrk"))
        bars.append(rate_bar(results.get("keep-alive-1", {}), 1.0, "bombardier"))
    for row in rows:
        if row.name == "ten-million":
            bars.append(memory_bar(results, row, 64))
        if row.name == "keep-alive-10000":
            bars.append(memory_bar(results, row, 96))
        if row.name == "two-workers":
            bars.append(count_bar(results, row))
    # wrk does not speak HTTP/2, its clock starts when TLS stands, and it times a whole pipeline.
    for row in rows:
        if not row.alone and not row.streams and not (row.tls and row.close) and row.pipeline == 1:
            bars += [latency_bar(results.get(row.name, {}), row.title, part) for part in ("mean", "p99")]
    return bars


def missing(tools, names):
    """The outcome when a tool did not work in this row; None when all did."""
    absent = [name for name in names if name not in tools]
    if not absent:
        return None
    return "not met (" + ("peer " if "ablaze" not in absent else "") + f"{', '.join(absent)} missing)"


def outcome(good):
    return "met" if good else "not met"


def cpu_bar(tools, title, most, peers):
    of = peers[0] + "'s" if len(peers) == 1 else f"the best of {', '.join(peers)}"
    must = f"CPU per request at most {most:.2f} of {of}"
    if absent := missing(tools, ["ablaze", *peers]):
        return Bar(title, must, "-", absent)
    best = min(peers, key=lambda peer: tools[peer].cpu_us)
    ratio = tools["ablaze"].cpu_us / tools[best].cpu_us
    measured = f"{ratio:.3f} ({tools['ablaze'].cpu_us:.2f} of {best}'s {tools[best].cpu_us:.2f} µs)"
    return Bar(title, must, measured, outcome(ratio <= most))


def rate_bar(tools, least, peer):
    must = f"rate at least {least:.1f} of {peer}'s"
    if absent := missing(tools, ["ablaze", peer]):
        return Bar("keep-alive, c=1", must, "-", absent)
    ratio = tools["ablaze"].rate_per_s / tools[peer].rate_per_s
    measured = f"{ratio:.3f} ({tools['ablaze'].rate_per_s:,.0f} of {tools[peer].rate_per_s:,.0f} /s)"
    return Bar("keep-alive, c=1", must, measured, outcome(ratio >= least))


def latency_bar(tools, title, part):
    """Holds for every row: less CPU must not be bought with latency. Not by the median: wrk serves some
    connections more often than others, which lowers its median and leaves the mean."""
    must = f"{part} at most 1.05 of wrk's"
    if absent := missing(tools, ["ablaze", "wrk"]):
        return Bar(title, must, "-", absent)
    ours, theirs = (getattr(tools[name], part + "_us") for name in ("ablaze", "wrk"))
    return Bar(title, must, f"{ours / theirs:.3f} ({ours:,.0f} of {theirs:,.0f} µs)",
               outcome(ours <= 1.05 * theirs))


def memory_bar(results, row, most_mib):
    tools = results.get(row.name, {})
    must = f"peak memory under {most_mib} MiB"
    if absent := missing(tools, ["ablaze"]):
        return Bar(row.title, must, "-", absent)
    mib = tools["ablaze"].vmhwm_kib / MIB_KIB
    measured = f"{mib:.1f} MiB"
    if row.requests and tools["ablaze"].answers < row.requests:
        return Bar(row.title, must, measured, f"not judged: {tools['ablaze'].answers:,} requests only")
    return Bar(row.title, must, measured, outcome(mib < most_mib))


def count_bar(results, row):
    """A run whose own count is not -n, or not the server's, was left out: then the bar is not met."""
    tools = results.get(row.name, {})
    must = "sum of responses = the server's own count = -n"
    if absent := missing(tools, ["ablaze"]):
        return Bar(row.title, must, "-", absent)
    it = tools["ablaze"]
    return Bar(row.title, must, f"equal in {it.runs} of {it.runs + it.runs_left_out} runs",
               outcome(it.runs_left_out == 0))
