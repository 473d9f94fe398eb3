"""The tools: how each is told to do a row's work, and how its own report is read.

Every tool gets the same URL, HTTP/1.1 where it can, one client thread where it has a choice, and
its defaults otherwise. Latencies are returned in microseconds.
"""

import json
import math
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ablaze-bench"


@dataclass
class Report:
    """What a tool says of its own run."""

    answers: int
    failures: int
    rate_per_s: float
    p50_us: float | None
    p99_us: float | None
    mean_us: float | None = None
    # Requests it made beside those it counts.
    beside: int = 0


class Tool:
    """One tool. `exact_count`: it ends after a number of requests, not after a time."""

    name = ""
    exact_count = True

    def __init__(self, path=None):
        self.path = path or find(self.name)

    def can(self, row):
        """Whether the tool can do this row's work."""
        return row.pipeline == 1 and not row.streams

    def command(self, server, row, amount):
        raise NotImplementedError

    def parse(self, out, err):
        raise NotImplementedError

    def version(self):
        return first_line(self.path, "--version")


class Ablaze(Tool):
    name = "ablaze"

    def can(self, row):
        return True

    def command(self, server, row, amount):
        argv = [self.path, "load", "-c", str(row.connections), "-n", str(amount.requests),
                "-t", str(row.threads), "--json"]
        if row.close:
            argv.append("--no-keepalive")
        if row.pipeline > 1:
            argv += ["--pipeline", str(row.pipeline)]
        if row.streams:
            argv += ["--http", "2", "--streams", str(row.streams)]
        if row.tls:
            argv += ["--cacert", str(server.ca)] if row.verify else ["-k"]
        return [*argv, server.base(row) + row.path]

    def parse(self, out, err):
        report = json.loads(out)
        total = report["latency_ns"]["total"]
        return Report(report["succeeded"], report["failed"]["total"] + report["unexpected"],
                      report["rate_per_s"], total["p50"] / 1e3, total["p99"] / 1e3, total["mean"] / 1e3)


class Ab(Tool):
    """ab by its own ways: HTTP/1.0 and -k. Its printed percentiles are whole milliseconds; the
    file of -e has three more digits."""

    name = "ab"

    def command(self, server, row, amount):
        argv = [self.path, "-c", str(row.connections), "-n", str(amount.requests), "-e", "/dev/stderr"]
        if not row.close:
            argv.append("-k")
        return [*argv, server.base(row) + row.path]

    def parse(self, out, err):
        percentiles = dict(re.findall(r"^(\d+),([\d.]+)$", err, re.M))
        failed = int(field(out, r"^Failed requests:\s+(\d+)"))
        failed += int(field(out, r"^Non-2xx responses:\s+(\d+)", "0"))
        return Report(int(field(out, r"^Complete requests:\s+(\d+)")), failed,
                      float(field(out, r"^Requests per second:\s+([\d.]+)")),
                      float(percentiles["50"]) * 1e3, float(percentiles["99"]) * 1e3,
                      float(field(out, r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)")) * 1e3)

    def version(self):
        return field(first_line(self.path, "-V"), r"Version (\S+)")


class AblazeAb(Ab):
    """ablaze behind ab's command line."""

    name = "ablaze-ab"

    def __init__(self, path=None):
        self.path = path or find("ablaze")

    def command(self, server, row, amount):
        program, *rest = super().command(server, row, amount)
        return [program, "ab", "--threads", str(row.threads), *rest]

    def version(self):
        return first_line(self.path, "--version")


class Wrk(Tool):
    """Takes a time only."""

    name = "wrk"
    exact_count = False

    def can(self, row):
        return not row.streams

    def command(self, server, row, amount):
        argv = [self.path, "-t", "1", "-c", str(row.connections), "-d", f"{amount.seconds}s", "--latency"]
        if row.close:
            argv += ["-H", "Connection: close"]
        argv += ["-s", str(BENCH / "pipeline.lua")] if row.pipeline > 1 else []
        argv.append(server.base(row) + row.path)
        return argv + (["--", str(row.pipeline)] if row.pipeline > 1 else [])

    def parse(self, out, err):
        failed = int(field(out, r"Non-2xx or 3xx responses: (\d+)", "0"))
        errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
        failed += sum(map(int, errors.groups())) if errors else 0
        return Report(int(field(out, r"(\d+) requests in")), failed,
                      float(field(out, r"Requests/sec:\s+([\d.]+)")),
                      microseconds(field(out, r"^\s+50%\s+(\S+)")),
                      microseconds(field(out, r"^\s+99%\s+(\S+)")),
                      microseconds(field(out, r"^\s+Latency\s+(\S+)")))

    def version(self):
        return field(first_line(self.path, "-v"), r"wrk (\S+)")


class H2load(Tool):
    """Prints no percentiles."""

    name = "h2load"

    def can(self, row):
        return True

    def command(self, server, row, amount):
        argv = [self.path, "-t", "1", "-c", str(row.connections), "-n", str(amount.requests)]
        argv += ["-m", str(row.streams)] if row.streams else ["--h1"]
        if row.close:
            argv += ["-H", "Connection: close"]
        if row.pipeline > 1:
            argv += ["-m", str(row.pipeline)]
        return [*argv, server.base(row) + row.path]

    def parse(self, out, err):
        counts = re.search(r"requests: (\d+) total, .* (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored",
                           out)
        answers = int(counts[3])
        return Report(answers, int(counts[4]), float(field(out, r", ([\d.]+) req/s")), None, None,
                      microseconds(field(out, r"^time for request:\s+\S+\s+\S+\s+(\S+)")))


class Shb(Tool):
    """Verifies no certificate."""

    name = "shb"

    def can(self, row):
        return row.pipeline == 1

    def command(self, server, row, amount):
        argv = [self.path, "-t", "1", "-c", str(row.connections), "-n", str(amount.requests), "-j"]
        if row.close:
            argv.append("--disable-keepalive")
        if row.streams:
            argv += ["--http2", "-p", str(row.streams)]
        return [*argv, server.base(row) + row.path]

    def parse(self, out, err):
        report = json.loads(out)
        wrong = sum(n for status, n in report["statusCodes"].items() if status != "200")
        percentiles = report["latencySeconds"]["percentiles"]
        return Report(report["requests"]["ok"], report["requests"]["errors"] + wrong,
                      report["requestsPerSec"], percentiles["p50"] * 1e6, percentiles["p99"] * 1e6,
                      report["latencySeconds"]["mean"] * 1e6)

    def version(self):
        return pinned_version("shb") or first_line(self.path, "--version")


class Oha(Tool):
    """Verifies no certificate when told not to; it has no option for a CA of one's own."""

    name = "oha"

    def can(self, row):
        return row.pipeline == 1

    def command(self, server, row, amount):
        argv = [self.path, "--no-tui", "--output-format", "json", "--worker-threads", "1",
                "-c", str(row.connections), "-n", str(amount.requests)]
        if row.close:
            argv.append("--disable-keepalive")
        if row.streams:
            argv += ["--http2", "-p", str(row.streams)]
        if row.tls:
            argv.append("--insecure")
        return [*argv, server.base(row) + row.path]

    def parse(self, out, err):
        report = json.loads(out)
        statuses = report["statusCodeDistribution"]
        failed = sum(report["errorDistribution"].values())
        failed += sum(n for status, n in statuses.items() if status != "200")
        percentiles = report["latencyPercentiles"]
        return Report(statuses.get("200", 0), failed, report["summary"]["requestsPerSec"],
                      percentiles["p50"] * 1e6, percentiles["p99"] * 1e6,
                      report["summary"]["average"] * 1e6)


class Bombardier(Tool):
    """Has no option for threads: Go's runtime uses what the machine has."""

    name = "bombardier"

    def command(self, server, row, amount):
        argv = [self.path, "-c", str(row.connections), "-n", str(amount.requests),
                "-l", "-p", "r", "-o", "json", *(["-k"] if row.tls else [])]
        if row.close:
            argv += ["-H", "Connection: close"]
        return [*argv, server.base(row) + row.path]

    def parse(self, out, err):
        result = json.loads(out)["result"]
        failed = result["req1xx"] + result["req3xx"] + result["req4xx"] + result["req5xx"] + result["others"]
        percentiles = result["latency"]["percentiles"]
        return Report(result["req2xx"], failed, result["req2xx"] / result["timeTakenSeconds"],
                      percentiles["50"], percentiles["99"], result["latency"]["mean"])

    def version(self):
        return pinned_version("bombardier") or first_line(self.path, "--version")


class Bare(Tool):
    """A loop of bench/bare: the least such a client can do. Reports no latency."""

    def parse(self, out, err):
        report = json.loads(out)
        return Report(report["responses"], 0, report["rate_per_s"], None, None, None, report["beside"])

    def version(self):
        return f"bench/bare/{self.source}"


class BareTls(Bare):
    """With OpenSSL; verifies no certificate."""

    name, source = "bare-tls", "tls.c"

    def can(self, row):
        return row.tls and not row.streams

    def command(self, server, row, amount):
        argv = [self.path, str(server.port_of(row)), str(row.connections), str(amount.requests), row.path]
        return argv + (["close"] if row.close else [])


class BareH2c(Bare):
    """Requests of a connection leave when half of its streams are free."""

    name, source = "bare-h2c", "h2c.c"

    def can(self, row):
        return row.streams > 0 and not row.tls

    def command(self, server, row, amount):
        return [self.path, str(server.port_of(row)), str(row.connections), str(amount.requests), row.path,
                str(row.streams), str(max(1, row.streams // 2))]


class BareEpoll(Bare):
    """Small responses over epoll; the program and its source are the io_uring loop's too."""

    name, source, program, loop = "bare-epoll", "http1.c", "bare-http1", "epoll"

    def __init__(self, path=None):
        super().__init__(path or find(self.program))

    def can(self, row):
        # Its responses come whole in one receive.
        return row.path == "/small" and row.pipeline == 1 and not row.tls and not row.streams

    def command(self, server, row, amount):
        argv = [self.path, str(server.port_of(row)), str(row.connections), str(amount.requests), row.path, self.loop]
        return argv + (["close"] if row.close else [])


class BareUring(BareEpoll):
    """The same over io_uring."""

    name, loop = "bare-uring", "uring"


ALL = {tool.name: tool for tool in (Ablaze, Ab, Wrk, H2load, Shb, Oha, Bombardier, BareTls, BareH2c, BareEpoll,
                                    BareUring, AblazeAb)}
DEFAULT = ["ablaze", "ab", "wrk", "h2load", "shb", "oha", "bombardier", "bare-tls", "bare-h2c", "bare-epoll",
           "bare-uring"]


def find(name):
    """Where a tool is: built by bench/peers, or installed in the system; None if neither."""
    built = CACHE / "bin" / name
    return str(built) if os.access(built, os.X_OK) else shutil.which(name)


def pinned_version(name):
    """The version bench/peers wrote down after building the tool."""
    try:
        return (CACHE / f"{name}.version").read_text().strip()
    except OSError:
        return None


def first_line(*argv):
    """First line that a tool prints about itself, on either stream."""
    done = subprocess.run(argv, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def field(text, pattern, default=None):
    """The first group of the pattern; without a default its absence is a ValueError."""
    found = re.search(pattern, text, re.M)
    if found:
        return found[1]
    if default is None:
        raise ValueError(f"no {pattern!r} in it")
    return default


def microseconds(text):
    """wrk's durations: 12.34us, 1.23ms, 1.02s, 1.5m."""
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m|h)", text).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}[unit]


def round_requests(rate_per_s, seconds, connections):
    """Requests that take about so long at this rate: two digits, at least ten per connection."""
    wanted = max(rate_per_s * seconds, 10 * connections, 100)
    unit = 10 ** (math.floor(math.log10(wanted)) - 1)
    return max(unit, round(wanted / unit) * unit)
