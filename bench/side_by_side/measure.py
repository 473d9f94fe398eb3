"""Runs one tool once and says what it cost: CPU by wait4, peak memory, its own report."""

import os
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass

from .phases import Look, Phases, split
from .processes import process_cpu_s

# Memory and the CPU clocks are looked at this often while a tool runs.
LOOK_EVERY_S = 0.02


@dataclass
class Sample:
    """One run of one tool. Where `problem` is set the rest is not to be used."""

    tool: str
    problem: str | None = None
    answers: int | None = None
    server_count: int | None = None
    rate_per_s: float | None = None
    mean_us: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    user_s: float = 0.0
    system_s: float = 0.0
    wall_s: float = 0.0
    vmhwm_kib: int = 0
    # Share of one CPU that the server used while the tool ran.
    server_busy: float | None = None
    # CPU seconds of the client before, during and after the requests, and of the server; see phases.py.
    phases: Phases | None = None

    @property
    def cpu_us(self):
        """User and system CPU of the whole process, per answer."""
        return (self.user_s + self.system_s) * 1e6 / self.answers

    @property
    def user_us(self):
        return self.user_s * 1e6 / self.answers

    @property
    def system_us(self):
        return self.system_s * 1e6 / self.answers

    def as_json(self):
        return asdict(self)


def run_tool(tool, server, row, amount, limit_s):
    """Runs the tool and returns a Sample; a tool that fails gives one with `problem`."""
    before = server.requests_served()
    argv = tool.command(server, row, amount)
    server_cpu_s = server.cpu_s()
    usage, status, wall_s, hwm_kib, looks, out, err = run_process(argv, limit_s, server)
    # The status request that is just being answered counts itself.
    served = server.requests_served() - before - 1
    sample = Sample(tool.name, server_count=served, wall_s=wall_s, vmhwm_kib=hwm_kib,
                    user_s=usage.ru_utime, system_s=usage.ru_stime)
    if server_cpu_s is not None:
        server_used_s = server.cpu_s() - server_cpu_s
        sample.server_busy = server_used_s / wall_s
        sample.phases = split(looks, usage.ru_utime + usage.ru_stime, server_used_s)
    if status != 0:
        sample.problem = f"{describe_status(status)}: {last_line(err) or last_line(out)}"
        return sample
    try:
        report = tool.parse(out, err)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        sample.problem = f"its report was not understood: {error!r}"
        return sample
    sample.answers, sample.rate_per_s = report.answers, report.rate_per_s
    sample.mean_us, sample.p50_us, sample.p99_us = report.mean_us, report.p50_us, report.p99_us
    sample.server_count -= report.beside
    if report.failures:
        sample.problem = f"{report.failures:,} of its requests failed"
    elif not report.answers:
        sample.problem = "no answer at all"
    else:
        sample.problem = false_count(tool, row, amount, sample)
    return sample


def false_count(tool, row, amount, sample):
    """What is wrong with a tool's count of responses, judged by the server's; None if nothing is."""
    if tool.exact_count:
        if sample.answers != amount.requests:
            return f"asked for {amount.requests:,}, it counted {sample.answers:,}"
        if sample.server_count != sample.answers:
            return f"it counted {sample.answers:,}, the server {sample.server_count:,}"
        return None
    # Ended by the clock: what was in flight then is the server's but not the tool's.
    if not 0 <= sample.server_count - sample.answers <= 2 * row.in_flight:
        return f"it counted {sample.answers:,}, the server {sample.server_count:,}"
    return None


def run_process(argv, limit_s, server=None):
    """Runs argv to its end, and looks at the CPU clocks of a server meanwhile, if there is one: (rusage,
    status, wall seconds, VmHWM in KiB, looks at the CPU clocks, stdout, stderr)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 preexec_fn=raise_descriptor_limit)
        seen_kib, looks = 0, []
        while True:
            looks += look(child.pid, server) if server else []
            seen_kib = max(seen_kib, vmhwm_kib(child.pid))
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - start > limit_s:
                child.send_signal(signal.SIGKILL)
                limit_s = float("inf")
            time.sleep(LOOK_EVERY_S)
        wall_s = time.monotonic() - start
        child.returncode = status  # reaped above: Popen must not wait for it again
        out.seek(0)
        err.seek(0)
        return (usage, status, wall_s, peak_kib(usage, seen_kib), looks,
                out.read().decode(errors="replace"), err.read().decode(errors="replace"))


def look(pid, server):
    """The CPU clocks of client and server now; none when the client is gone."""
    try:
        server_s = server.cpu_s()
        return [] if server_s is None else [Look(process_cpu_s(pid), server_s)]
    except OSError:
        return []


def peak_kib(usage, seen_kib):
    """ru_maxrss is exact to the end of the process, but after exec Linux lets it begin at what
    the parent had (setmax_mm_hiwater_rss in exec_mmap). Below that, the last look has to do."""
    inherited_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss if usage.ru_maxrss > inherited_kib else seen_kib


def vmhwm_kib(pid):
    """Peak resident memory so far, in KiB; 0 when the process is gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def raise_descriptor_limit():
    """For the tools that do not raise their own soft limit; runs in the child before exec."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def describe_status(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return "took too long and was ended" if number == signal.SIGKILL else f"died of signal {number}"
    return f"status {os.waitstatus_to_exitcode(status)}"


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
