#!/usr/bin/env python3
"""A server of HTTP/3 on aioquic for the conformance tests: the files of a folder, and /echo.

With --retry every client has to show its address first. With --goaway N every connection is told GOAWAY with its Nth
request, and what comes behind it is refused.
"""

import argparse
import asyncio
import pathlib
import ssl

from aioquic.asyncio import serve
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import ErrorCode, FrameType, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, StreamReset


class Server(QuicConnectionProtocol):
    """One connection."""

    root = pathlib.Path(".")
    goaway_after = 0

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http = None
        self.requests = {}
        self.begun = 0
        # The first stream that is not processed, once GOAWAY was said.
        self.refused_from = None

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if isinstance(event, StreamReset):
            self.requests.pop(event.stream_id, None)
        if self.http is None:
            return
        for got in self.http.handle_event(event):
            self.received(got)
        self.transmit()

    def received(self, got):
        stream = got.stream_id
        if isinstance(got, HeadersReceived) and stream not in self.requests:
            if self.refused_from is not None and stream >= self.refused_from:
                self._quic.reset_stream(stream, ErrorCode.H3_REQUEST_REJECTED)
                return
            self.requests[stream] = (dict(got.headers), bytearray())
            self.begun += 1
            if self.goaway_after and self.begun == self.goaway_after:
                self.say_goaway(stream + 4)
        if isinstance(got, DataReceived) and stream in self.requests:
            self.requests[stream][1].extend(got.data)
        if got.stream_ended and stream in self.requests:
            self.respond(stream, *self.requests.pop(stream))

    def say_goaway(self, stream):
        """RFC 9114, 5.2; aioquic has no call for it."""
        self.refused_from = stream
        frame = encode_frame(FrameType.GOAWAY, encode_uint_var(stream))
        self._quic.send_stream_data(self.http._local_control_stream_id, frame)

    def respond(self, stream, fields, body):
        path = fields[b":path"].decode().split("?")[0]
        status, content = b"200", bytes(body)
        if path != "/echo":
            file = self.root / path.lstrip("/")
            status = b"200" if file.is_file() else b"404"
            content = file.read_bytes() if file.is_file() else b"not found\n"
        length = str(len(content)).encode()
        self.http.send_headers(stream, [(b":status", status), (b"content-length", length)])
        if fields[b":method"] == b"HEAD":
            content = b""
        self.http.send_data(stream, content, end_stream=True)


async def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--port", type=int, required=True)
    words.add_argument("--cert", required=True)
    words.add_argument("--key", required=True)
    words.add_argument("--root", type=pathlib.Path, required=True)
    words.add_argument("--retry", action="store_true")
    words.add_argument("--goaway", type=int, default=0)
    asked = words.parse_args()
    Server.root, Server.goaway_after = asked.root, asked.goaway
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"], max_datagram_size=1200)
    configuration.load_cert_chain(asked.cert, asked.key)
    configuration.verify_mode = ssl.CERT_NONE
    await serve(
        "127.0.0.1", asked.port, configuration=configuration, create_protocol=Server, retry=asked.retry
    )
    # Whoever waits for the server tries TCP.
    await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", asked.port)
    await asyncio.Event().wait()


asyncio.run(main())
