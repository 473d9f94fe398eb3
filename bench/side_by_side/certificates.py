"""A CA for one bench, and a certificate by it: P-256, for 127.0.0.1. Made by the openssl command."""

import shutil
import subprocess

EXTENSIONS = """[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[server]
basicConstraints = CA:FALSE
subjectAltName = IP:127.0.0.1, DNS:localhost
extendedKeyUsage = serverAuth
"""


class CertificateError(Exception):
    """openssl is missing or refuses; the text says which."""


def make(directory):
    """Writes them into the directory: paths of (CA, certificate, key)."""
    (directory / "extensions").write_text(EXTENSIONS)
    for name in ("ca", "server"):
        openssl(directory, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")
        openssl(directory, "req", "-new", "-key", f"{name}.key", "-subj", f"/CN=ablaze bench {name}",
                "-out", f"{name}.request")
    sign = ["x509", "-req", "-days", "2", "-extfile", "extensions"]
    openssl(directory, *sign, "-in", "ca.request", "-signkey", "ca.key", "-extensions", "ca", "-out", "ca.pem")
    openssl(directory, *sign, "-in", "server.request", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-extensions", "server", "-out", "server.pem")
    return directory / "ca.pem", directory / "server.pem", directory / "server.key"


def openssl(directory, *words):
    program = shutil.which("openssl")
    if not program:
        raise CertificateError("openssl is not installed (package openssl)")
    done = subprocess.run([program, *words], cwd=directory, capture_output=True, text=True)
    if done.returncode != 0:
        raise CertificateError(f"openssl {words[0]}: {done.stderr.strip()}")
