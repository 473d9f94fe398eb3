"""The servers: each built-in model as `ablaze serve --model NAME`, and nginx, all on one CPU.

A program has a `name`, a `url` and the processes whose CPU time and memory are its own.
"""

import os
import re
import select
import subprocess
import urllib.request

from side_by_side.processes import children, end, process_cpu_s
from side_by_side.server import Server, ServerError

HELLO = b"hello, world!\n"


class Program:
    """A server that runs. Use as a context manager."""

    name = ""
    url = ""

    def pids(self):
        raise NotImplementedError

    def cpu_s(self):
        """CPU time of all threads, those that have ended included."""
        return sum(process_cpu_s(pid) for pid in self.pids())

    def resident_kib(self):
        return sum(resident_kib(pid) for pid in self.pids())

    def check(self):
        """All must do the same work: 200 with 14 bytes."""
        try:
            with urllib.request.urlopen(self.url, timeout=5) as answer:
                body = answer.read()
        except OSError as error:
            raise ServerError(f"{self.name} does not answer: {error}") from error
        if body != HELLO:
            raise ServerError(f"{self.name} answers {body!r} where {HELLO!r} is meant")


class Model(Program):
    """A built-in model with one worker."""

    def __init__(self, ablaze, name, cpu):
        self.name, self.cpu = name, cpu
        self.command = [*pinned(cpu), ablaze, "serve", "127.0.0.1:0", "--model", name, "--threads", "1"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.url = self._await_address() + "hello"
            self.check()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end(self.process)

    def pids(self):
        return [self.process.pid]

    def _await_address(self):
        ready, _, _ = select.select([self.process.stdout], [], [], 10)
        line = self.process.stdout.readline().decode() if ready else ""
        found = re.search(r"http://\S+/", line)
        if not found:
            self.process.kill()
            said = self.process.stderr.read().decode().strip() or line.strip()
            raise ServerError(said.splitlines()[0] if said else "it did not say where it listens")
        return found[0]


class Nginx(Program):
    """The yardstick: one worker, `return 200`, logs off."""

    name = "nginx"

    def __init__(self, cpu):
        self.server, self.cpu = Server(), cpu

    def __enter__(self):
        before = os.sched_getaffinity(0)
        # Children inherit it; the worker is forked when the first answer has come.
        os.sched_setaffinity(0, {self.cpu})
        try:
            self.server.__enter__()
        finally:
            os.sched_setaffinity(0, before)
        self.url = f"{self.server.url}/hello"
        try:
            self.check()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.server.__exit__()

    def pids(self):
        master = self.server.process.pid
        return [master, *children(master)]

    def version(self):
        return self.server.version()


def models(ablaze):
    """The models that this ablaze has: it names them when it is asked for one that it has not."""
    asked = subprocess.run([ablaze, "serve", "--model", "?"], capture_output=True, text=True)
    return names_in(asked.stderr)


def names_in(refusal):
    found = re.search(r"expected one of ([\w, -]+)", refusal)
    if not found:
        raise ServerError(f"its models are not to be learned from: {refusal.strip()}")
    return [name.strip() for name in found[1].split(",")]


def pinned(cpu):
    """The beginning of a command line that runs on this CPU alone."""
    return ["taskset", "-c", str(cpu)]


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0
