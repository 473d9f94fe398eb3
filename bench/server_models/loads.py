"""The loads: wrk and ablaze, each with one thread on a CPU of its own, for a time."""

from dataclasses import asdict, dataclass

from side_by_side import measure, tools
from side_by_side.rows import Amount, Row

from .programs import pinned

CONNECTIONS = 100
KINDS = {"keep-alive": Row("keep-alive", "keep-alive, c=100", path="/hello"),
         "close": Row("close", "a connection per request, c=100", path="/hello", close=True)}


@dataclass
class Sample:
    """One run of one load against one server. Where `problem` is set the rest is not to be used."""

    problem: str | None = None
    answers: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0

    @property
    def cpu_us(self):
        """CPU of the server's processes, per answer."""
        return self.cpu_s * 1e6 / self.answers

    @property
    def rate_per_s(self):
        return self.answers / self.wall_s

    @property
    def busy(self):
        """Share of its CPU that the server used: well below 1, the load was the limit."""
        return self.cpu_s / self.wall_s

    def as_json(self):
        return asdict(self)


class Wrk(tools.Wrk):
    """wrk as it is."""

    def for_time(self, url, row, seconds):
        return self.command(At(url), row, Amount(0, seconds))


class Ablaze(tools.Ablaze):
    """ablaze, for a time instead of a number."""

    def for_time(self, url, row, seconds):
        argv = [self.path, "load", "-c", str(row.connections), "-d", f"{seconds}s", "-t", "1", "--json"]
        return [*argv, *(["--no-keepalive"] if row.close else []), url]


ALL = {"wrk": Wrk, "ablaze": Ablaze}


@dataclass
class At:
    """A server by the URL of its page, as tools ask for one."""

    url: str

    def base(self, row):
        return self.url.removesuffix(row.path)


def run(load, program, row, seconds, cpu):
    """Loads the server and says what that cost it."""
    argv = [*pinned(cpu), *load.for_time(program.url, row, seconds)]
    before_s = program.cpu_s()
    _, status, wall_s, *_, out, err = measure.run_process(argv, 10 + 3 * seconds)
    sample = Sample(cpu_s=program.cpu_s() - before_s, wall_s=wall_s)
    if status != 0:
        sample.problem = f"{measure.describe_status(status)}: {measure.last_line(err) or measure.last_line(out)}"
        return sample
    try:
        report = load.parse(out, err)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        sample.problem = f"its report was not understood: {error!r}"
        return sample
    sample.answers = report.answers
    if report.failures:
        sample.problem = f"{report.failures:,} requests failed"
    elif not report.answers:
        sample.problem = "no answer at all"
    return sample
