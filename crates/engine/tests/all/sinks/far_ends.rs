//! Servers without sockets: what they say is a [`Server`]'s, in plain or in TLS. One type for all of them, so
//! that the engine is compiled for these tests once.

use std::io::{Read, Write};
use std::sync::Arc;

use ablaze_net::sim::{ConnectReply, FarEnd, Pieces, SimPeer};
use rustls::{ServerConfig, ServerConnection};

use super::broken::Partly;
use super::http1_server::Http1Server;
use super::http2_server::Http2Server;
use super::plans::US;

/// One connection of a server, without I/O.
#[derive(Clone)]
pub enum Server {
    Http1(Http1Server),
    Http2(Http2Server),
    Partly(Partly),
}

impl Server {
    /// Takes what came, and adds what is said to it. Whether the connection is closed behind that.
    pub fn response(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        match self {
            Self::Http1(server) => server.response(bytes, out),
            Self::Http2(server) => server.response(bytes, out),
            Self::Partly(server) => server.response(out),
        }
    }

    /// It has a connection: the number of it.
    pub fn connected(&mut self, number: u64) {
        match self {
            Self::Http1(server) => server.connection = number,
            Self::Http2(server) => server.connection = number,
            Self::Partly(_) => {}
        }
    }
}

/// What a peer sends after this is another event for the client.
const DELAY_NS: u64 = 100 * US;

/// A server in a simulated network.
pub struct Simulated {
    server: Server,
    pieces: Pieces,
    config: Option<Arc<ServerConfig>>,
    tls: Option<Box<ServerConnection>>,
    sent: Vec<u8>,
}

impl Simulated {
    /// In plain. What it sends arrives in such pieces.
    pub fn plain(server: Server, pieces: Pieces) -> Self {
        Self { server, pieces, config: None, tls: None, sent: Vec::new() }
    }

    /// In TLS.
    pub fn in_tls(server: Server, pieces: Pieces, config: ServerConfig) -> Self {
        Self { config: Some(Arc::new(config)), ..Self::plain(server, pieces) }
    }

    /// Adds what is said to `bytes` to what is sent. Whether the connection is closed behind that.
    fn response(&mut self, mut bytes: &[u8]) -> bool {
        let Some(tls) = &mut self.tls else {
            return self.server.response(bytes, &mut self.sent);
        };
        let mut closes = false;
        while !bytes.is_empty() {
            tls.read_tls(&mut bytes).unwrap();
            let state = tls.process_new_packets().unwrap();
            let mut asked = vec![0; state.plaintext_bytes_to_read()];
            tls.reader().read_exact(&mut asked).unwrap();
            let mut said = Vec::new();
            if !asked.is_empty() {
                closes |= self.server.response(&asked, &mut said);
            }
            tls.writer().write_all(&said).unwrap();
        }
        if closes {
            tls.send_close_notify();
        }
        while tls.wants_write() {
            tls.write_tls(&mut self.sent).unwrap();
        }
        closes
    }
}

impl Clone for Simulated {
    fn clone(&self) -> Self {
        let (server, config) = (self.server.clone(), self.config.clone());
        Self { config, ..Self::plain(server, self.pieces) }
    }
}

impl SimPeer for Simulated {
    fn bytes(&self) -> &[u8] {
        &self.sent
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        far.cut(self.pieces, US);
        self.server.connected(number);
        self.tls = self.config.clone().map(|config| {
            let mut tls = ServerConnection::new(config).unwrap();
            tls.set_buffer_limit(None);
            Box::new(tls)
        });
        ConnectReply::AcceptAfter(0)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        let start = self.sent.len();
        let closes = self.response(bytes);
        if self.sent.len() > start {
            far.send_after(DELAY_NS, start as u32, (self.sent.len() - start) as u32);
        }
        if closes {
            far.fin_after(DELAY_NS);
        }
    }
}
