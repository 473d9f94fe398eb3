//! A response on its way: the bytes, and the list of slices that a sendmsg points at. Both stay
//! where they are until the kernel is done with them.

use std::io::IoSlice;

use crate::http1::output::Output;

/// Slices handed to one sendmsg: 4 MiB of filler.
const SLICES: usize = 64;

/// Responses kept for reuse, and the most memory that one of them may hold.
const KEPT: usize = 256;
const KEPT_BYTES_MAX: usize = 4 * 1024;

/// What is to be sent, in memory of its own.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// The bytes.
    pub output: Output,
    /// Number of those that are being sent.
    pub sending_bytes: u64,
    list: Option<Box<List>>,
}

/// What sendmsg points at.
struct List {
    header: libc::msghdr,
    slices: [libc::iovec; SLICES],
}

impl std::fmt::Debug for List {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("List").field("slices", &self.header.msg_iovlen).finish()
    }
}

impl Outgoing {
    /// A header for what is left, as far as its slices reach, and the number of bytes they have.
    pub fn message(&mut self) -> (*const libc::msghdr, u64) {
        let list = self.list.get_or_insert_with(|| Box::new(List::empty()));
        let mut slices = [IoSlice::new(&[]); SLICES];
        let used = self.output.slices(&mut slices);
        let mut bytes = 0;
        for (entry, slice) in list.slices.iter_mut().zip(&slices[..used]) {
            bytes += slice.len() as u64;
            *entry =
                libc::iovec { iov_base: slice.as_ptr().cast_mut().cast(), iov_len: slice.len() };
        }
        list.header.msg_iov = list.slices.as_mut_ptr();
        list.header.msg_iovlen = used as _;
        (&raw const list.header, bytes)
    }
}

impl List {
    fn empty() -> Self {
        // SAFETY: a msghdr and iovecs of zeros are an empty message: null pointers, length 0.
        unsafe { std::mem::zeroed() }
    }
}

/// Responses that are not in use.
#[derive(Debug, Default)]
pub struct Pool {
    #[expect(clippy::vec_box, reason = "the kernel is given addresses in them")]
    spare: Vec<Box<Outgoing>>,
}

impl Pool {
    /// An empty buffer, reused if there is one.
    #[inline]
    pub fn take(&mut self) -> Box<Outgoing> {
        self.spare.pop().unwrap_or_default()
    }

    /// The kernel is done with it.
    #[inline]
    pub fn give_back(&mut self, mut outgoing: Box<Outgoing>) {
        if !outgoing.output.is_empty() {
            outgoing.output.clear();
        }
        if outgoing.output.memory_bytes() > KEPT_BYTES_MAX {
            outgoing.output = Output::default();
        }
        if self.spare.len() < KEPT {
            self.spare.push(outgoing);
        }
    }
}
