"""The nginx every tool is measured against: one worker, loopback only, its own directory."""

import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from . import certificates, processes

TEMPLATE = Path(__file__).resolve().parent.parent / "nginx.conf.template"
FILES = {"48k": 48_576, "1m": 1_048_576}


class ServerError(Exception):
    """nginx is missing or does not start; the text says which."""


class Server:
    """A running nginx. Use as a context manager: leaving it stops nginx and removes its files."""

    def __init__(self):
        self.program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not self.program:
            raise ServerError("nginx is not installed (package nginx-light)")
        self.descriptors = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 65_536)

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="ablaze-bench-"))
        self.ports = dict(zip(("http", "status", "https", "h2", "h2c"), free_ports(5)))
        self.port, self.status_port = self.ports["http"], self.ports["status"]
        self.url = f"http://127.0.0.1:{self.port}"
        try:
            self.ca, self.certificate, self.key = certificates.make(self.directory)
        except certificates.CertificateError as error:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise ServerError(str(error)) from error
        self._write_files()
        command = [self.program, "-p", str(self.directory), "-c", str(self.directory / "nginx.conf"),
                   "-e", str(self.directory / "error.log")]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            self._await_start()
            self._check_answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def port_of(self, row):
        """The port that speaks what the row is about."""
        if row.streams:
            return self.ports["h2" if row.tls else "h2c"]
        return self.ports["https" if row.tls else "http"]

    def base(self, row):
        """URL of that port, without a path."""
        return f"http{'s' if row.tls else ''}://127.0.0.1:{self.port_of(row)}"

    def cpu_s(self):
        """CPU time of the worker so far."""
        return sum(processes.process_cpu_s(pid) for pid in processes.children(self.process.pid))

    def requests_served(self):
        """Requests nginx has begun to read since its start, on the measured port and this one."""
        return self._status()["requests"]

    def settle(self, seconds=10):
        """Waits until no connection of the tool before is left, so that no run pays for another."""
        end = time.monotonic() + seconds
        while self._status()["active"] > 1 and time.monotonic() < end:
            time.sleep(0.05)

    def version(self):
        """nginx's own version line."""
        text = subprocess.run([self.program, "-v"], capture_output=True, text=True).stderr
        return text.strip().removeprefix("nginx version: ")

    def _status(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.status_port}/status", timeout=30) as answer:
            text = answer.read().decode()
        active = re.search(r"Active connections: (\d+)", text)
        counts = re.search(r"^\s*(\d+) (\d+) (\d+)\s*$", text, re.M)
        return {"active": int(active[1]), "requests": int(counts[3])}

    def _write_files(self):
        os.chmod(self.directory, 0o755)  # started by root, the worker runs as someone else
        www = self.directory / "www"
        www.mkdir()
        for name, size in FILES.items():
            (www / name).write_bytes((b"0123456789abcdef" * (size // 16 + 1))[:size])
        values = {
            "directory": self.directory, "port": self.port, "status_port": self.status_port,
            "https_port": self.ports["https"], "h2_port": self.ports["h2"], "h2c_port": self.ports["h2c"],
            "certificate": self.certificate, "key": self.key,
            "descriptors": self.descriptors, "connections": self.descriptors - 64,
        }
        text = TEMPLATE.read_text()
        for name, value in values.items():
            text = text.replace("{{%s}}" % name, str(value))
        (self.directory / "nginx.conf").write_text(text)

    def _await_start(self):
        for _ in range(100):
            if self.process.poll() is not None:
                raise ServerError("nginx ended: " + self.process.stderr.read().decode().strip())
            try:
                self._status()
                return
            except OSError:
                time.sleep(0.05)
        raise ServerError("nginx did not answer within 5 s")

    def _check_answer(self):
        """The yardstick itself: 142 bytes of answer, and both files whole."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(b"GET /small HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = b""
            while not answer.endswith(b"\r\n\r\nok"):
                part = connection.recv(4096)
                if not part:
                    break
                answer += part
        if len(answer) != 142:
            raise ServerError(f"nginx answers {len(answer)} bytes where 142 are meant: {answer!r}")
        for name, size in FILES.items():
            with urllib.request.urlopen(f"{self.url}/{name}", timeout=5) as answer:
                if len(answer.read()) != size:
                    raise ServerError(f"nginx does not serve /{name} with {size} bytes")


def free_ports(count):
    """Ports nobody listens on now. Held together, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
