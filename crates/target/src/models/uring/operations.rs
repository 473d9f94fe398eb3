//! The requests a worker puts on its ring, each with the tag that its completion brings back.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{CancelBuilder, DestinationSlot, Fd, Fixed};

use crate::event_loop::slots::place;

/// What the kernel must be able to do.
pub const NEEDED: &[u8] = &[
    opcode::Accept::CODE,
    opcode::Recv::CODE,
    opcode::Send::CODE,
    opcode::SendMsg::CODE,
    opcode::Close::CODE,
    opcode::FixedFdInstall::CODE,
    opcode::AsyncCancel::CODE,
    opcode::PollAdd::CODE,
    opcode::SetSockOpt::CODE,
];

// Operations, as carried by their completions.
pub const ACCEPT: u8 = 1;
/// Connections were handed over.
pub const HANDED: u8 = 2;
pub const STOP: u8 = 3;
/// A receive that ends with its first bytes.
pub const RECEIVE: u8 = 4;
/// A receive that goes on.
pub const RECEIVE_MANY: u8 = 5;
/// A send that takes what the socket takes at once, and completes silently if that is all.
pub const SEND_NOW: u8 = 6;
/// A socket that was full has room.
pub const WRITABLE: u8 = 7;
/// A descriptor was made for a socket of the ring's table.
pub const INSTALL: u8 = 8;
/// Requests whose completion tells nothing: closes, cancellations, socket options.
pub const UNHEARD: u8 = 9;

/// Places that a tag has room for.
pub const PLACES: usize = 1 << 24;

/// What a request carries through the ring: the operation (8 bits), and of the connection's key
/// the place (24 bits) and the generation (32 bits).
#[inline]
fn tag(operation: u8, key: u64) -> u64 {
    u64::from(operation) << 56 | (place(key) as u64) << 32 | key >> 32
}

/// Operation and key of a tag.
#[inline]
pub fn untag(tag: u64) -> (u8, u64) {
    ((tag >> 56) as u8, tag << 32 | tag >> 32 & 0xff_ffff)
}

/// The group of buffers that receives take theirs from.
pub const BUFFER_GROUP: u16 = 0;

/// Closing a socket with this option sends a reset.
static NO_LINGER: libc::linger = libc::linger { l_onoff: 1, l_linger: 0 };

/// A connection's socket.
#[derive(Debug)]
pub enum File {
    /// In the ring's own table only: it costs no descriptor of the process.
    Direct(u32),
    /// A descriptor of the process.
    Owned(OwnedFd),
}

impl File {
    /// How requests name it.
    #[inline]
    pub fn target(&self) -> Target {
        match self {
            Self::Direct(index) => Target { number: *index as i32, flags: Flags::FIXED_FILE },
            Self::Owned(fd) => Target { number: fd.as_raw_fd(), flags: Flags::empty() },
        }
    }

    /// The request that closes it.
    #[inline]
    pub fn close(&self) -> Entry {
        let close = match self {
            Self::Direct(index) => opcode::Close::new(Fixed(*index)),
            Self::Owned(fd) => opcode::Close::new(Fd(fd.as_raw_fd())),
        };
        unheard(close.build())
    }

    /// The ring has closed it, or will: it is not closed again.
    #[inline]
    pub fn forget(self) {
        if let Self::Owned(fd) = self {
            let _ = fd.into_raw_fd();
        }
    }
}

/// A file as requests name it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    number: i32,
    flags: Flags,
}

impl Target {
    #[inline]
    fn fd(self) -> Fd {
        Fd(self.number)
    }
}

/// Accepts one connection, or all that come, into the ring's table or as descriptors. These are
/// left blocking: a send that waits for room is woken again and again once the client has closed
/// its side (IO_POLL_UNMASK in the kernel's io_uring/poll.c has EPOLLRDHUP), until the kernel lets
/// a thread of its own wait for it (APOLL_MAX_RETRY), and that fails at once without blocking.
pub fn accept(listener: RawFd, many: bool, direct: bool) -> Entry {
    let flags = if direct { 0 } else { libc::SOCK_CLOEXEC };
    let entry = if many {
        opcode::AcceptMulti::new(Fd(listener)).allocate_file_index(direct).flags(flags).build()
    } else {
        let nowhere = std::ptr::null_mut();
        opcode::Accept::new(Fd(listener), nowhere, nowhere.cast())
            .file_index(direct.then(DestinationSlot::auto_target))
            .flags(flags)
            .build()
    };
    entry.user_data(tag(ACCEPT, 0))
}

/// Tells each time the descriptor becomes readable.
pub fn watch(fd: RawFd, operation: u8) -> Entry {
    let watch = opcode::PollAdd::new(Fd(fd), libc::POLLIN as u32).multi(true).build();
    watch.user_data(tag(operation, 0))
}

/// Receives once into a buffer of the group.
#[inline]
pub fn receive(file: Target, key: u64) -> Entry {
    opcode::Recv::new(file.fd(), std::ptr::null_mut(), 0)
        .buf_group(BUFFER_GROUP)
        .build()
        .flags(Flags::BUFFER_SELECT | file.flags)
        .user_data(tag(RECEIVE, key))
}

/// Receives whatever comes, each time into another buffer of the group.
#[inline]
pub fn receive_many(file: Target, key: u64) -> Entry {
    opcode::RecvMulti::new(file.fd(), BUFFER_GROUP)
        .build()
        .flags(file.flags)
        .user_data(tag(RECEIVE_MANY, key))
}

/// Sends what the socket takes at once. If that is all, there is no completion; if not, it tells
/// how much was taken, or an error: MSG_WAITALL makes less than all a failure, whose result is
/// what had left (io_sendrecv_fail in the kernel's io_uring/net.c), and MSG_DONTWAIT makes it fail
/// instead of waiting. So once the submitting call is back and its completions were looked at, the
/// bytes have left and their memory is free.
#[inline]
pub fn send_now(file: Target, key: u64, bytes: &[u8]) -> Entry {
    opcode::Send::new(file.fd(), bytes.as_ptr(), bytes.len() as u32)
        .flags(NOW)
        .build()
        .flags(Flags::SKIP_SUCCESS | file.flags)
        .user_data(tag(SEND_NOW, key))
}

/// The same for a list of slices.
pub fn send_list_now(file: Target, key: u64, list: *const libc::msghdr) -> Entry {
    opcode::SendMsg::new(file.fd(), list)
        .flags(NOW as u32)
        .build()
        .flags(Flags::SKIP_SUCCESS | file.flags)
        .user_data(tag(SEND_NOW, key))
}

const NOW: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL | libc::MSG_DONTWAIT;

/// Tells each time a full socket gets room, edge-triggered. Not a send that waits, nor a poll for
/// one time: both end at once where the client has closed its sending side (IO_POLL_UNMASK in
/// io_uring/poll.c has EPOLLRDHUP), and such a send ends up in a thread of the kernel.
pub fn watch_room(file: Target, key: u64) -> Entry {
    opcode::PollAdd::new(file.fd(), libc::POLLOUT as u32)
        .multi(true)
        .build()
        .flags(file.flags)
        .user_data(tag(WRITABLE, key))
}

/// Gives a socket of the ring's table a descriptor of the process, for the calls that need one.
pub fn install(index: u32, key: u64) -> Entry {
    opcode::FixedFdInstall::new(Fixed(index), 0).build().user_data(tag(INSTALL, key))
}

/// Makes the close linked behind it send a reset.
pub fn reset_on_close(file: Target) -> Entry {
    let set = opcode::SetSockOpt::new(
        file.fd(),
        libc::SOL_SOCKET as u32,
        libc::SO_LINGER as u32,
        (&raw const NO_LINGER).cast(),
        size_of::<libc::linger>() as u32,
    );
    // Hard: the close follows even if the kernel (before 6.7) does not know the command.
    unheard(set.build().flags(file.flags | Flags::IO_HARDLINK))
}

/// Cancels the request with this tag: the kernel finds it in a table.
pub fn cancel(operation: u8, key: u64) -> Entry {
    let target = CancelBuilder::user_data(tag(operation, key));
    unheard(opcode::AsyncCancel2::new(target).build())
}

fn unheard(entry: Entry) -> Entry {
    entry.flags(Flags::SKIP_SUCCESS).user_data(tag(UNHEARD, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_brings_the_key_back() {
        for key in [0, 1, 0xff_ffff, 1 << 32, u64::from(u32::MAX) << 32 | 0xab_cdef] {
            for operation in [ACCEPT, UNHEARD, u8::MAX] {
                assert_eq!(untag(tag(operation, key)), (operation, key));
            }
        }
    }
}
