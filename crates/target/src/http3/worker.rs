//! The thread that speaks HTTP/3 for a worker: one UDP socket, one endpoint, and a wait for the two things that can happen,
//! a datagram and the end. It is the same beside every model that has it.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use ablaze_quic::server::{Datagram, Endpoint, Settings, Transmit};
use ablaze_random::{SplitMix64, unit};
use ablaze_sys::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{Around, Http3};
use crate::counters::{Counters, Part};
use crate::event_loop::DRAIN_NS;
use crate::handler::Handler;
use crate::server::Stop;
use crate::service::Service;
use crate::udp::{RECEIVED_BYTES_MAX, UdpSocket};

/// Calls that receive before what came is worked on.
const RECEIVES_MAX: usize = 16;

/// A worker before it runs.
#[derive(Debug)]
pub struct UdpWorker<H> {
    number: usize,
    cpu: Option<u32>,
    part: Part,
    socket: UdpSocket,
    endpoint: Endpoint<Http3<H>>,
    around: Around<H>,
    counters: Arc<Counters>,
    stop: Arc<Stop>,
    /// Share of received datagrams that are dropped, and what draws them.
    loss: f64,
    random: SplitMix64,
    received: Vec<u8>,
    out: Vec<u8>,
    /// What of `out` the kernel did not take.
    held_up: Option<(Transmit, usize)>,
    drained_ns: Option<u64>,
}

/// What such a thread is given.
#[derive(Debug)]
pub struct UdpParts<H> {
    /// Number of the worker beside which it works.
    pub number: usize,
    /// The CPU it is pinned to.
    pub cpu: Option<u32>,
    /// Its socket.
    pub socket: UdpSocket,
    /// What all endpoints of the server share.
    pub settings: Settings,
    /// What it serves.
    pub service: Arc<Service<H>>,
    /// Where it counts.
    pub part: Part,
    /// How it is told to stop.
    pub stop: Arc<Stop>,
    /// Share of received datagrams that are dropped.
    pub loss: f64,
    /// Where the draws of these begin.
    pub seed: u64,
}

impl<H: Handler> UdpWorker<H> {
    /// Puts it together.
    pub fn new(parts: UdpParts<H>) -> Self {
        let UdpParts { number, cpu, socket, settings, service, part, stop, loss, seed } = parts;
        let counters = part.counters().clone();
        Self {
            number,
            cpu,
            part,
            socket,
            endpoint: Endpoint::new(settings, monotonic_ns()),
            around: Around::new(service, counters.clone()),
            counters,
            stop,
            loss,
            random: SplitMix64::new(seed),
            received: vec![0; RECEIVED_BYTES_MAX],
            out: Vec::new(),
            held_up: None,
            drained_ns: None,
        }
    }

    /// Number of the worker beside which it works.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Serves until told to stop, then lets responses under way finish.
    ///
    /// # Errors
    /// When the wait itself fails, which the kernel does only for lack of memory.
    pub fn run(mut self) -> io::Result<()> {
        self.part.begin();
        if let Some(cpu) = self.cpu {
            ablaze_sys::pin_thread(cpu)?;
        }
        loop {
            let readable = self.wait()?;
            self.around.date.update();
            if readable {
                self.receive();
            }
            let now_ns = monotonic_ns();
            self.begin_draining(now_ns);
            self.endpoint.run(&mut self.around, now_ns);
            self.transmit(now_ns);
            self.count();
            if self.is_drained(now_ns) {
                return Ok(());
            }
        }
    }

    /// Waits for something to do; whether datagrams came.
    fn wait(&mut self) -> io::Result<bool> {
        let due_ns = self.endpoint.due_ns().into_iter().chain(self.drained_ns).min();
        let left_ns = due_ns.map(|due_ns| due_ns.saturating_sub(monotonic_ns()));
        let timeout = left_ns.map(|ns| Timespec {
            tv_sec: (ns / 1_000_000_000).cast_signed(),
            tv_nsec: (ns % 1_000_000_000).cast_signed(),
        });
        let room = if self.held_up.is_some() { PollFlags::OUT } else { PollFlags::empty() };
        let socket = PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN | room);
        let stop = PollFd::from_borrowed_fd(self.stop.as_fd(), PollFlags::IN);
        let mut waited = [socket, stop];
        // Once it is told, it would always be.
        let watched = if self.drained_ns.is_some() { 1 } else { 2 };
        self.counters.waits.one();
        match poll(&mut waited[..watched], timeout.as_ref()) {
            Ok(count) => self.counters.events.add(count as u64),
            Err(Errno::INTR) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        }
        Ok(waited[0].revents().intersects(PollFlags::IN | PollFlags::ERR))
    }

    fn receive(&mut self) {
        for _ in 0..RECEIVES_MAX {
            self.counters.reads.one();
            let received = match self.socket.receive(&mut self.received) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.counters.read_eagains.one();
                }
                // An earlier datagram was not taken by its receiver, who will not be heard of again.
                Err(_) => continue,
            };
            let segment_bytes = received.segment_bytes.max(1);
            let datagrams = received.bytes.div_ceil(segment_bytes);
            self.counters.read_bytes.add(received.bytes as u64);
            self.counters.datagrams_read.add(datagrams as u64);
            let now_ns = monotonic_ns();
            let bytes = &self.received[..received.bytes];
            let datagram = |bytes, segment_bytes| Datagram {
                bytes,
                segment_bytes,
                from: received.from,
                at: received.at,
                ecn: received.ecn,
            };
            if self.loss == 0.0 {
                self.endpoint.receive(&datagram(bytes, segment_bytes), &mut self.around, now_ns);
                continue;
            }
            for one in bytes.chunks(segment_bytes) {
                if unit(self.random.next_u64()) < self.loss {
                    self.counters.datagrams_dropped.one();
                } else {
                    self.endpoint.receive(&datagram(one, one.len()), &mut self.around, now_ns);
                }
            }
        }
    }

    fn transmit(&mut self, now_ns: u64) {
        loop {
            let (transmit, from) = match self.held_up.take() {
                Some(held_up) => held_up,
                None => {
                    self.out.clear();
                    let Some(transmit) = self.endpoint.transmit(&mut self.out, now_ns) else {
                        return;
                    };
                    (transmit, 0)
                }
            };
            if let Some(from) = self.send(&transmit, from) {
                self.held_up = Some((transmit, from));
                return;
            }
        }
    }

    /// Sends what is in `out` from there on; where it has to go on if the kernel takes no more.
    fn send(&mut self, transmit: &Transmit, mut from: usize) -> Option<usize> {
        let mut lists = self.socket.segments;
        // Whether the list was refused and the first of its datagrams is now sent alone.
        let mut suspects = false;
        while from < self.out.len() {
            let left = &self.out[from..];
            let most = if lists { left.len() } else { transmit.segment_bytes };
            let bytes = &left[..most.min(left.len())];
            let segment_bytes = transmit.segment_bytes.max(1);
            self.counters.writes.one();
            let Transmit { to, from: address, ecn, .. } = *transmit;
            match self.socket.send(bytes, segment_bytes, to, address, ecn) {
                Ok(()) => {
                    if suspects {
                        // Alone it went: the kernel does not cut, whoever the client is.
                        self.socket.segments = false;
                    }
                    let datagrams = bytes.len().div_ceil(segment_bytes);
                    self.counters.datagrams_written.add(datagrams as u64);
                    self.counters.written_bytes.add(bytes.len() as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.counters.write_eagains.one();
                    return Some(from);
                }
                // The interface has no checksum offload (EIO), the list or this client is refused (EINVAL), or the size is
                // (EMSGSIZE), which the last may not have: one by one then.
                Err(error) if bytes.len() > segment_bytes && may_be_of_the_list(&error) => {
                    lists = false;
                    suspects = error.raw_os_error() != Some(libc::EMSGSIZE);
                    continue;
                }
                // As if it had been lost: QUIC sends again what matters.
                Err(_) => {}
            }
            suspects = false;
            from += bytes.len();
        }
        None
    }

    fn begin_draining(&mut self, now_ns: u64) {
        if self.drained_ns.is_none() && self.stop.is_set() {
            self.drained_ns = Some(now_ns + DRAIN_NS);
            self.endpoint.finish();
        }
    }

    /// Whether nothing is left to do; connections that take too long are closed.
    fn is_drained(&mut self, now_ns: u64) -> bool {
        let Some(drained_ns) = self.drained_ns else { return false };
        if now_ns >= drained_ns && !self.endpoint.is_quiet() {
            self.endpoint.close_all();
            self.endpoint.run(&mut self.around, now_ns);
            self.transmit(now_ns);
            return true;
        }
        self.endpoint.is_quiet() && self.held_up.is_none()
    }

    fn count(&mut self) {
        let counts = self.endpoint.take_counts();
        self.counters.quic_handshakes.add(counts.handshakes);
        self.counters.quic_retries.add(counts.retries);
        self.counters.quic_failures.add(counts.failed);
    }
}

/// Whether some of its datagrams may go alone where a list was refused with this (`udp_send_skb` of the kernel). Other
/// errors are of the client and the way to it: no call reaches it.
fn may_be_of_the_list(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL | libc::EMSGSIZE))
}

#[cfg(test)]
mod tests;
