//! Opening a slot: a chain of linked requests on a direct descriptor for connections that carry
//! one exchange, an ordinary socket that is registered as well for those that stay.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use io_uring::types::{DestinationSlot, Fixed};
use io_uring::{opcode, squeue};

use super::sending::in_two;
use super::{CONNECT, QUEUED_SEND, Receiving, SILENT_SEND, SOCKET, Sending, Stage, UringIo};
use crate::driver::{CloseHow, CloseReason, Outgoing, Receive, Slot};
use crate::low_water::LowWater;
use crate::socket::{connect_failure, take_error};
use crate::uring::ring::tag;

/// First bytes up to this length fit one segment on any network, so that Nagle's algorithm never
/// holds them back and the socket needs no option set.
const ONE_SEGMENT_BYTES: u32 = 1400;

/// What came of a connect.
pub enum Connected {
    Yes,
    /// Another local address or port is being tried.
    TryAgain,
    No(CloseReason),
    /// The handler closed it meanwhile, and the kernel still holds something of it.
    Ending,
}

impl UringIo {
    pub(in crate::uring) fn open_slot(
        &mut self,
        slot: Slot,
        endpoint: u16,
        first: Option<Outgoing>,
        receive: Receive,
    ) {
        let route = &self.routes[usize::from(endpoint)];
        let attempts_left = route.attempts();
        let state = &mut self.slots[slot as usize];
        debug_assert!(state.stage == Stage::Free, "a slot is opened only when it is free");
        state.generation = state.generation.wrapping_add(1) & 0xff_ffff;
        state.stage = Stage::Connecting;
        state.low_water = LowWater::new();
        state.wanted = receive;
        state.endpoint = endpoint;
        state.first = first;
        state.attempts_left = attempts_left;
        if route.datagrams().is_some() {
            return self.open_datagrams(slot);
        }
        let direct = self.short_connections
            && !self.looks_whether_connected
            && first.is_some_and(|first| first.len() <= ONE_SEGMENT_BYTES)
            && route.is_tcp()
            && !route.binds()
            && route.options().send_buffer_bytes.is_none()
            && route.options().receive_buffer_bytes.is_none();
        if direct { self.open_direct(slot) } else { self.open_ordinary(slot) }
    }

    /// One chain: socket, connect, send, receive. The socket takes the slot's place in the ring's
    /// table, where it replaces, and so closes, what was left there.
    pub(super) fn open_direct(&mut self, slot: Slot) {
        self.make_room(4);
        let domain = self.routes[usize::from(self.slots[slot as usize].endpoint)].domain();
        let generation = self.slots[slot as usize].generation;
        let Ok(place) = DestinationSlot::try_from_slot_target(slot) else {
            self.local.push((slot, generation, CloseReason::Here("socket", libc::ENFILE)));
            return;
        };
        let socket = opcode::Socket::new(domain, libc::SOCK_STREAM, 0)
            .file_index(Some(place))
            .build()
            .flags(squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS)
            .user_data(tag(SOCKET, generation, slot));
        self.push(&socket);
        self.push_connect(slot);
    }

    /// A descriptor of the process, registered with the ring as well.
    pub(super) fn open_ordinary(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        let route = &mut self.routes[usize::from(state.endpoint)];
        match route.socket(&mut self.calls) {
            Ok(socket) => {
                self.calls += 1;
                let registered =
                    self.ring.submitter().register_files_update(slot, &[socket.as_raw_fd()]);
                self.slots[slot as usize].socket = Some(socket);
                if let Err(error) = registered {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    let generation = self.slots[slot as usize].generation;
                    self.local.push((
                        slot,
                        generation,
                        CloseReason::Here("io_uring_register", errno),
                    ));
                    return;
                }
                self.make_room(3);
                self.push_connect(slot);
            }
            Err(failure) => {
                let generation = self.slots[slot as usize].generation;
                self.local.push((slot, generation, failure.into()));
            }
        }
    }

    /// Queues the connect, and linked behind it the first bytes and a receive.
    pub(super) fn push_connect(&mut self, slot: Slot) {
        let state = &self.slots[slot as usize];
        let (generation, first, wanted) = (state.generation, state.first, state.wanted);
        let remote = self.routes[usize::from(state.endpoint)].remote();
        let mut connect = opcode::Connect::new(Fixed(slot), remote.as_ptr().cast(), remote.len())
            .build()
            .user_data(tag(CONNECT, generation, slot));
        let mut flags = squeue::Flags::empty();
        if first.is_some() {
            flags |= squeue::Flags::IO_LINK;
        }
        if !self.routes[usize::from(state.endpoint)].is_tcp() {
            // A full accept queue of a Unix socket cannot be polled for: the kernel's own thread
            // waits for room.
            flags |= squeue::Flags::ASYNC;
        }
        connect = connect.flags(flags);
        self.push(&connect);
        self.connects_queued += 1;
        let Some(mut first) = first else { return };
        if let Some((begin, rest)) = in_two(first) {
            let state = &mut self.slots[slot as usize];
            state.queue.push_front((rest, false));
            // Should the connect be tried again, the rest waits already.
            state.first = Some(begin);
            first = begin;
        }
        let receive = self.receive_entry(slot, wanted);
        let operation = match receive {
            Some(_) => self.slots[slot as usize].quiet_operation(first.len()),
            // No receive is linked behind it that would show that it has left.
            None => QUEUED_SEND,
        };
        self.note_send(slot, first, operation);
        let mut send = self.send_entry(slot, first, operation);
        if operation != SILENT_SEND {
            // A receive linked behind it would wait for the last byte to leave, and the peer
            // may answer before.
            self.push(&send);
            return;
        }
        if receive.is_some() {
            send = send.flags(squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS);
        }
        self.push(&send);
        if let Some((entry, operation)) = receive {
            self.push(&entry);
            let state = &mut self.slots[slot as usize];
            state.receiving = Receiving::Chained(operation);
            state.sending = Sending::Linked { connected_in: self.submissions };
        }
    }

    /// No socket could be made for a chain: nothing of the rest is told.
    pub(in crate::uring) fn chain_broken(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        state.receiving = Receiving::Nothing;
        state.sending = Sending::Ready;
    }

    pub(in crate::uring) fn connect_done(&mut self, slot: Slot, result: i32) -> Connected {
        if result < 0 {
            // Whatever was linked behind it is cancelled with it.
            self.chain_broken(slot);
        }
        let state = &mut self.slots[slot as usize];
        match state.stage {
            Stage::Unwanted(_) if result < 0 => return Connected::No(CloseReason::Local),
            Stage::Unwanted(how) => {
                let how = if how == CloseHow::Reset { how } else { CloseHow::Fin };
                let over = self.end(slot, how, CloseReason::Local);
                return if over { Connected::No(CloseReason::Local) } else { Connected::Ending };
            }
            _ => {}
        }
        if result == 0 {
            if let Some(errno) = self.rejected_while_held(slot) {
                let why = connect_failure(errno);
                return match self.end(slot, CloseHow::Fin, why) {
                    true => Connected::No(why),
                    false => Connected::Ending,
                };
            }
            let state = &mut self.slots[slot as usize];
            state.stage = Stage::Open;
            if let Sending::Linked { connected_in } = &mut state.sending {
                *connected_in = self.submissions;
                if !state.queue.is_empty() {
                    self.linked.push((slot, state.generation));
                }
            }
            self.pump(slot);
            return Connected::Yes;
        }
        let errno = -result;
        let route = &self.routes[usize::from(state.endpoint)];
        if errno == libc::EADDRNOTAVAIL && route.binds() && state.attempts_left > 1 {
            // That local address and port are taken toward this peer: the next one.
            state.attempts_left -= 1;
            state.generation = state.generation.wrapping_add(1) & 0xff_ffff;
            self.unregister(slot);
            self.open_ordinary(slot);
            return Connected::TryAgain;
        }
        Connected::No(connect_failure(errno))
    }

    /// Whether a connect that the kernel completed with 0 was rejected, and with what. Where a SYN is rejected while
    /// `connect` holds the socket (the machine's own firewall does so), the ICMP error is a soft one (`sk_err_soft`, in
    /// `tcp_v4_err`) and waits in the error queue: `io_connect` in io_uring/net.c finds the socket ready, asks for `sk_err`,
    /// which is not set, and completes with 0, although nothing stands (seen on 6.18). `SO_ERROR` tells both.
    ///
    /// A direct descriptor cannot be asked: short connections are ordinary sockets until one of them stands, and again
    /// behind one on which nothing came.
    fn rejected_while_held(&mut self, slot: Slot) -> Option<i32> {
        let state = &self.slots[slot as usize];
        let is_tcp = self.routes[usize::from(state.endpoint)].is_tcp();
        let socket = state.socket.as_ref().filter(|_| is_tcp)?;
        self.calls += 1;
        if !is_connecting(socket.as_fd()) {
            self.looks_whether_connected = false;
            return None;
        }
        self.calls += 1;
        let errno = take_error(socket.as_fd());
        (errno != 0).then_some(errno)
    }
}

/// Whether a TCP socket has sent a SYN and got nothing that answers it, by its state (`tcpi_state`, tcp(7)).
fn is_connecting(socket: BorrowedFd<'_>) -> bool {
    const SYN_SENT: u8 = 2;
    let mut state = 0_u8;
    let mut length = size_of_val(&state) as libc::socklen_t;
    // SAFETY: the descriptor is borrowed for the whole call, and the kernel writes no more than `length`, which is the
    // byte on this stack frame: the first of `struct tcp_info`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            std::ptr::from_mut(&mut state).cast(),
            &mut length,
        )
    };
    result == 0 && state == SYN_SENT
}
