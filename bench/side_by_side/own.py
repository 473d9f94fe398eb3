"""The built-in server, for rows in which nginx is the limit: one worker of the model epoll-et, with
the paths and the certificate of nginx."""

import json
import re
import select
import ssl
import subprocess
import urllib.request

from .processes import end, process_cpu_s
from .server import ServerError


class OwnServer:
    """`ablaze serve` as a row needs it, beside a running nginx whose files it serves. Use as a context
    manager."""

    def __init__(self, ablaze, nginx, row):
        self.ca = nginx.ca
        self.descriptors = nginx.descriptors
        self.scheme = "https" if row.tls else "http"
        self.command = [ablaze, "serve", "127.0.0.1:0", "--threads", "1", "--quiet",
                        "--route", "/small=200:ok", "--route", f"/1m=200:@{nginx.directory / 'www' / '1m'}"]
        if row.streams:
            self.command += ["--http", "2"]
        if row.tls:
            self.command += ["--tls-cert", str(nginx.certificate), "--tls-key", str(nginx.key),
                             "--tls-tickets", "off"]
        # Its own status requests go over the port that is measured.
        self.context = ssl.create_default_context(cafile=str(nginx.ca)) if row.tls else None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        ready, _, _ = select.select([self.process.stdout], [], [], 10)
        line = self.process.stdout.readline().decode() if ready else ""
        found = re.search(r"https?://[^/\s]+", line)
        if not found:
            self.process.kill()
            raise ServerError("ablaze serve: " + (self.process.stderr.read().decode().strip() or line.strip()))
        self.url = found[0]
        return self

    def __exit__(self, *_):
        end(self.process)

    def base(self, _row):
        return self.url

    def port_of(self, _row):
        return int(self.url.rsplit(":", 1)[1])

    def cpu_s(self):
        return process_cpu_s(self.process.pid)

    def requests_served(self):
        """Requests so far, without the one that asks."""
        with urllib.request.urlopen(f"{self.url}/_/status", timeout=30, context=self.context) as answer:
            return json.load(answer)["total"]["requests"]

    def settle(self):
        """It has nothing to wait for: a connection that was closed is gone with the next turn."""
