//! A peer that is the built-in server, whatever it speaks, without its sockets.

use std::io::IoSlice;
use std::sync::{Arc, Mutex};

use ablaze_model::plan::tls::Tls;
use ablaze_net::sim::{FarEnd, SimPeer};
use ablaze_target::Options;
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;
use rustls::ServerConfig;

/// Each connection has a protocol of its own, from its first byte on.
pub struct BuiltIn {
    service: Arc<Service<Routes>>,
    date: Date,
    /// Locked by nobody: it is only lent to one thread after the other.
    protocol: Mutex<Option<Protocol>>,
    sent: Vec<u8>,
    delay_ns: u64,
}

impl Clone for BuiltIn {
    fn clone(&self) -> Self {
        let service = Arc::clone(&self.service);
        Self { service, date: Date::now(), protocol: Mutex::default(), sent: Vec::new(), ..*self }
    }
}

impl BuiltIn {
    /// It answers this many nanoseconds after a request has come.
    pub fn new(config: ServerConfig, http2: bool, delay_ns: u64) -> Self {
        let options = Options { http2, ..Options::default() };
        let registry = Arc::new(Registry::default());
        let routes = Routes::new(&options);
        let service = Service::new(routes, &options, Some(Arc::new(config)), registry);
        Self {
            service: Arc::new(service),
            date: Date::now(),
            protocol: Mutex::default(),
            sent: Vec::new(),
            delay_ns,
        }
    }
}

impl SimPeer for BuiltIn {
    fn bytes(&self) -> &[u8] {
        &self.sent
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        let Self { service, date, protocol, sent, delay_ns } = self;
        let protocol = protocol.get_mut().unwrap().get_or_insert_with(|| Protocol::new(service));
        let start = sent.len();
        let mut out = Output::default();
        let mut next = protocol.receive(bytes, service, date, &mut out);
        loop {
            while !out.is_empty() {
                let mut slices = [IoSlice::new(&[]); 4];
                let used = out.slices(&mut slices);
                let before = sent.len();
                slices[..used].iter().for_each(|slice| sent.extend_from_slice(slice));
                out.wrote(sent.len() - before);
            }
            match next {
                Next::Proceed | Next::Wait(_) => next = protocol.proceed(service, date, &mut out),
                Next::Read | Next::ReadFor(_) | Next::Close { .. } | Next::Reset => break,
            }
        }
        if sent.len() > start {
            far.send_after(*delay_ns, start as u32, (sent.len() - start) as u32);
        }
        if matches!(next, Next::Close { .. } | Next::Reset) {
            far.close_after(*delay_ns);
        }
    }
}

/// TLS that offers this protocol alone.
pub fn offering(tls: Tls, protocol: &str) -> Tls {
    Tls { protocols: vec![protocol.to_owned()], ..tls }
}
