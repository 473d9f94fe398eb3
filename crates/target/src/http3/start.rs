//! From a server's options to the threads that speak HTTP/3 beside its workers: a UDP socket for each, on the port that
//! the TCP listeners have. The kernel gives every datagram to one of them by a hash of the addresses, so that a connection
//! stays where it began (socket(7), SO_REUSEPORT).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use ablaze_quic::server::Settings;

use super::worker::{UdpParts, UdpWorker};
use crate::handler::Handler;
use crate::health::Health;
use crate::models::Worker;
use crate::options::{Http3Options, Options, OptionsError};
use crate::server::{StartError, Stop};
use crate::udp::UdpSocket;

/// Threads before they run, each with how it is told to stop.
pub type Ready<H> = Vec<(UdpWorker<H>, Arc<Stop>)>;

/// What starts, and how it is told to stop; nothing if HTTP/3 is not spoken.
///
/// # Errors
/// When the TLS cannot be QUIC's, or the port is taken.
pub fn prepare<H: Handler>(
    options: &Options,
    address: SocketAddr,
    workers: &[Worker<H>],
    health: &Health,
) -> Result<Ready<H>, StartError> {
    let (Some(http3), Some(tls)) = (options.http3, &options.tls) else { return Ok(Vec::new()) };
    let Http3Options { retry, loss } = http3;
    let refuse = |why: String| StartError::Options(OptionsError(why));
    let tls = tls.configuration_of_http3().map_err(refuse)?;
    let settings = Settings::new(
        tls,
        options.max_streams,
        options.max_head_bytes,
        options.read_timeout,
        retry,
    )
    .map_err(|error| refuse(error.to_string()))?;
    let sockets = bind(options, address, workers.len())?;
    let mut ready = Vec::new();
    for (worker, socket) in workers.iter().zip(sockets) {
        let stop = Arc::new(Stop::new(health)?);
        let parts = UdpParts {
            number: worker.number,
            socket,
            settings: settings.clone(),
            service: worker.service.clone(),
            part: worker.counters.part(),
            stop: stop.clone(),
            cpu: options.cpus.get(worker.number % options.cpus.len().max(1)).copied(),
            loss,
            // Every worker draws numbers of its own.
            seed: options.seed.wrapping_add(worker.number as u64),
        };
        ready.push((UdpWorker::new(parts), stop));
    }
    Ok(ready)
}

fn bind(
    options: &Options,
    address: SocketAddr,
    count: usize,
) -> Result<Vec<UdpSocket>, StartError> {
    let open = || UdpSocket::bind(address, count > 1, &options.sockets);
    let sockets: io::Result<Vec<_>> = (0..count).map(|_| open()).collect();
    sockets.map_err(|error| StartError::Udp { address, error })
}
