//! The epoll driver's verbs, and the system calls behind them.
//!
//! A socket is registered once, edge-triggered. On TCP writability is watched from the start and
//! for ever, because it is free: the kernel reports it only after a send met a full buffer
//! (`SOCK_NOSPACE` in `tcp_check_space`), and otherwise merely adds a bit to other events. So
//! neither connecting nor a partial send costs an `epoll_ctl`. A Unix socket reports it whenever
//! the peer reads (`unix_write_space`), which would cost a wake-up per request; there it is
//! watched only while something is queued.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use ablaze_sys::clock::monotonic_ns;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::connection::{Connection, Hangup, Stage};
use crate::driver::{
    CloseHow, CloseReason, DatagramCounts, Io, OutBuffer, OutDatagrams, Outgoing, Receive, Slot,
};
use crate::leases::Leases;
use crate::low_water::LowWater;
use crate::outbox::{Outbox, Queue, Queued};
use crate::socket::{self, Connect, Route};
use crate::udp::sending::Sending;

/// The verbs of the epoll driver.
#[derive(Debug)]
pub struct EpollIo {
    pub(super) epoll: OwnedFd,
    pub(super) connections: Box<[Connection]>,
    /// Slots to visit without an event of the kernel, each at most once.
    pub(super) listed: VecDeque<Slot>,
    /// Slots whose Unix socket met a full accept queue.
    pub(super) refilling: VecDeque<Slot>,
    pub(super) outbox: Outbox,
    /// Counted since the turn began.
    pub(super) system_calls: u32,
    /// What sockets for datagrams send, by slot; empty where no endpoint is one.
    pub(super) datagrams: Box<[Sending]>,
    pub(super) routes: Vec<Route>,
    constant_bytes: Arc<[u8]>,
    leases: Leases,
}

impl EpollIo {
    pub(super) fn new(
        epoll: OwnedFd,
        slots: u32,
        routes: Vec<Route>,
        constant_bytes: Arc<[u8]>,
    ) -> Self {
        let has_datagrams = routes.iter().any(|route| route.datagrams().is_some());
        let senders = if has_datagrams { slots } else { 0 };
        Self {
            epoll,
            datagrams: (0..senders).map(|_| Sending::new()).collect(),
            connections: (0..slots).map(|_| Connection::new()).collect(),
            listed: VecDeque::with_capacity(slots as usize),
            refilling: VecDeque::with_capacity(slots as usize),
            outbox: Outbox::new(slots as usize),
            system_calls: 0,
            routes,
            constant_bytes,
            leases: Leases::default(),
        }
    }

    pub(super) fn connection(&mut self, slot: Slot) -> &mut Connection {
        &mut self.connections[slot as usize]
    }

    /// Has the slot visited later in the turn, if there is something to tell.
    pub(super) fn list(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if !connection.listed && connection.has_news() {
            connection.listed = true;
            self.listed.push_back(slot);
        }
    }

    /// Makes the slot's socket and starts its connect.
    pub(super) fn connect(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        let route = &mut self.routes[usize::from(connection.endpoint)];
        let is_tcp = route.is_tcp();
        match route.connect(&mut self.system_calls) {
            Ok((socket, connect)) => {
                // Registering a writable TCP socket reports it at once, connected or not.
                let connected = connect == Connect::Done && !is_tcp;
                connection.socket = Some(socket);
                connection.generation = connection.generation.wrapping_add(1);
                connection.is_tcp = is_tcp;
                connection.stage = if connected { Stage::Connected } else { Stage::Connecting };
                if let Some(datagrams) = route.datagrams() {
                    connection.stage = Stage::Bound;
                    let sending = &mut self.datagrams[slot as usize];
                    sending.begin(datagrams.version, datagrams.no_coalescing);
                }
                self.watch(slot, true, !connected);
            }
            Err(CloseReason::Connect(libc::EAGAIN)) if !is_tcp => {
                connection.stage = Stage::Refilling;
                self.refilling.push_back(slot);
            }
            Err(reason) => connection.stage = Stage::Ended(reason),
        }
        self.list(slot);
    }

    /// Tells epoll what to watch; ends the connection if it refuses.
    pub(super) fn watch(&mut self, slot: Slot, is_new: bool, writable: bool) {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = &connection.socket else { return };
        let data = u64::from(connection.generation) << 32 | u64::from(slot);
        let mut flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        flags.set(EventFlags::OUT, writable);
        connection.watches_writable = writable;
        self.system_calls += 1;
        let result = if is_new {
            epoll::add(&self.epoll, socket, EventData::new_u64(data), flags)
        } else {
            epoll::modify(&self.epoll, socket, EventData::new_u64(data), flags)
        };
        if let Err(errno) = result {
            connection.stage = Stage::Ended(CloseReason::Here("epoll_ctl", errno.raw_os_error()));
        }
    }

    /// Hands queued bytes to the kernel until none are left or it takes no more.
    pub(super) fn flush(&mut self, slot: Slot) {
        loop {
            let connection = &mut self.connections[slot as usize];
            let Some(queued) = self.outbox.first_mut(&connection.queue) else { break };
            let Some(socket) = &connection.socket else { break };
            let bytes = outgoing(&self.constant_bytes, &self.leases, queued.bytes, queued.accepted);
            let asked = bytes.len();
            match send(socket, bytes, &mut self.system_calls) {
                Ok(accepted) if accepted == asked => {
                    connection.notices += u32::from(queued.notify);
                    self.outbox.pop(&mut connection.queue);
                }
                Ok(accepted) => {
                    queued.accepted += accepted as u32;
                    break;
                }
                Err(errno) => return self.fail_sending(slot, errno),
            }
        }
        let connection = &mut self.connections[slot as usize];
        let wants_writable = !connection.queue.is_empty();
        if !connection.is_tcp && connection.watches_writable != wants_writable {
            self.watch(slot, false, wants_writable);
        }
    }

    /// Remembers why sending failed and drops what is queued. The connection ends when
    /// everything that arrived before is read.
    pub(super) fn fail_sending(&mut self, slot: Slot, errno: Errno) {
        let connection = &mut self.connections[slot as usize];
        connection.failed = errno.raw_os_error();
        connection.readable = true;
        if connection.hangup != Hangup::Reached {
            connection.hangup = Hangup::Unclear;
        }
        self.outbox.clear(&mut connection.queue);
    }

    /// A part of a body was dropped: if the rest has not come yet, lets the socket gather it.
    pub(super) fn gather(&mut self, slot: Slot, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let waits = connection.is_tcp && !connection.readable;
        if let (true, Receive::Discard(left), Some(socket)) =
            (waits, connection.receive, &connection.socket)
        {
            self.system_calls += connection.low_water.raise(socket.as_fd(), left, now_ns);
        }
    }

    /// Closes the slot's socket, if it has one.
    pub(super) fn drop_socket(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if connection.socket.take().is_some() {
            self.system_calls += 1; // close
        }
        self.outbox.clear(&mut connection.queue);
    }
}

impl Io for EpollIo {
    const SENDS_AT_ONCE: bool = true;

    fn now(&mut self) -> u64 {
        monotonic_ns()
    }

    fn open(&mut self, slot: Slot, endpoint: u16, first: Option<Outgoing>, receive: Receive) {
        let connection = &mut self.connections[slot as usize];
        debug_assert_eq!(connection.stage, Stage::Free, "slot {slot} is opened while in use");
        connection.endpoint = endpoint;
        connection.receive = receive;
        connection.readable = false;
        connection.hangup = Hangup::None;
        connection.failed = 0;
        connection.notices = 0;
        connection.low_water = LowWater::new();
        connection.queue = Queue::EMPTY;
        if let Some(bytes) = first {
            let queued = Queued { bytes, accepted: 0, notify: false };
            self.outbox.push(&mut connection.queue, queued);
        }
        self.connect(slot);
    }

    fn lease(&mut self, bytes: usize) -> OutBuffer {
        self.leases.lease(bytes)
    }

    fn leased(&mut self, buffer: OutBuffer) -> &mut [u8] {
        self.leases.bytes_mut(buffer)
    }

    fn release(&mut self, buffer: OutBuffer) {
        self.leases.release(buffer);
    }

    fn send(&mut self, slot: Slot, bytes: Outgoing, notify: bool) {
        let connection = &mut self.connections[slot as usize];
        match connection.stage {
            Stage::Open | Stage::AwaitingPeer if connection.failed == 0 => {}
            Stage::Refilling | Stage::Connecting | Stage::Connected => {
                let queued = Queued { bytes, accepted: 0, notify };
                return self.outbox.push(&mut connection.queue, queued);
            }
            _ => return,
        }
        if !connection.queue.is_empty() {
            return self.outbox.push(&mut connection.queue, Queued { bytes, accepted: 0, notify });
        }
        let Some(socket) = &connection.socket else { return };
        let plain = outgoing(&self.constant_bytes, &self.leases, bytes, 0);
        match send(socket, plain, &mut self.system_calls) {
            Ok(accepted) if accepted as u32 == bytes.len() => {
                if notify {
                    connection.notices += 1;
                    self.list(slot);
                }
            }
            Ok(accepted) => {
                let queued = Queued { bytes, accepted: accepted as u32, notify };
                self.outbox.push(&mut connection.queue, queued);
                if !connection.watches_writable {
                    self.watch(slot, false, true);
                    self.list(slot);
                }
            }
            Err(errno) => {
                self.fail_sending(slot, errno);
                self.list(slot);
            }
        }
    }

    fn send_datagrams(&mut self, slot: Slot, datagrams: OutDatagrams<'_>) {
        self.send_together(slot, datagrams);
    }

    fn datagram_counts(&mut self, slot: Slot) -> DatagramCounts {
        self.counts(slot)
    }

    fn datagram_bytes_max(&mut self, slot: Slot) -> Option<u16> {
        self.longest_datagram(slot)
    }

    fn unsent(&mut self, slot: Slot) -> bool {
        let connection = &self.connections[slot as usize];
        match connection.stage {
            Stage::Bound | Stage::Datagrams => self.datagrams[slot as usize].waits(),
            _ => !connection.queue.is_empty(),
        }
    }

    fn receive(&mut self, slot: Slot, mode: Receive) {
        let connection = &mut self.connections[slot as usize];
        if connection.stage == Stage::AwaitingPeer {
            return;
        }
        connection.receive = mode;
        if connection.low_water.is_raised()
            && !matches!(mode, Receive::Discard(_))
            && let Some(socket) = &connection.socket
        {
            self.system_calls += connection.low_water.lower(socket.as_fd(), monotonic_ns());
        }
        self.list(slot);
    }

    fn close(&mut self, slot: Slot, how: CloseHow) {
        let connection = &mut self.connections[slot as usize];
        match (connection.stage, how) {
            (Stage::Free | Stage::Ended(_), _) => return,
            (Stage::Open | Stage::AwaitingPeer, CloseHow::AwaitPeer) => {
                connection.stage = Stage::AwaitingPeer;
                connection.receive = Receive::DiscardToEnd;
            }
            (Stage::Bound | Stage::Datagrams, _) => self.end_datagrams(slot, CloseReason::Local),
            (stage, how) => {
                if let (CloseHow::Reset, Some(socket)) = (how, &connection.socket) {
                    self.system_calls += 1;
                    // Where it is refused (it never is on TCP), FIN must do.
                    let _ = socket::reset_on_close(socket.as_fd());
                }
                connection.stage = Stage::Ended(CloseReason::Local);
                if stage == Stage::Refilling {
                    self.refilling.retain(|&other| other != slot);
                }
                self.drop_socket(slot);
            }
        }
        self.list(slot);
    }
}

/// The bytes of a send that the kernel has not accepted yet.
fn outgoing<'a>(constant: &'a [u8], leases: &'a Leases, what: Outgoing, accepted: u32) -> &'a [u8] {
    match what {
        Outgoing::Constant { start, len } => {
            &constant[(start + accepted) as usize..][..(len - accepted) as usize]
        }
        Outgoing::Leased { buffer, len } => &leases.bytes(buffer)[accepted as usize..len as usize],
    }
}

/// Sends without blocking; how many bytes the kernel accepted, 0 if it takes none now.
fn send(socket: &OwnedFd, bytes: &[u8], calls: &mut u32) -> Result<usize, Errno> {
    loop {
        *calls += 1;
        // MSG_NOSIGNAL: a peer that is gone is an errno here, not a SIGPIPE.
        match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(0),
            result => return result,
        }
    }
}
