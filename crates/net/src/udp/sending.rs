//! The datagrams of one socket on their way to a kernel that may refuse them for now, refuse to cut them, or
//! refuse one for its length.

use std::collections::VecDeque;

use super::Version;
use super::control::{Beside, Received};
use crate::driver::{DatagramCounts, OutDatagrams};

/// Bytes kept for a socket that the kernel takes none from. Ten full calls: more would only be late.
const KEPT_BYTES_MAX: usize = 640 * 1024;

/// Datagrams copied to be sent later.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) bytes: Vec<u8>,
    pub(crate) segment_bytes: usize,
    pub(crate) ecn: u8,
}

impl Kept {
    pub(crate) fn datagrams(&self) -> OutDatagrams<'_> {
        OutDatagrams { bytes: &self.bytes, segment_bytes: self.segment_bytes, ecn: self.ecn }
    }
}

/// What one socket has to send, and what went through it.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) counts: DatagramCounts,
    pub(crate) version: Version,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
}

impl Sending {
    pub(crate) fn new() -> Self {
        Self {
            counts: DatagramCounts::default(),
            version: Version::V4,
            kept: VecDeque::new(),
            kept_bytes: 0,
        }
    }

    /// A new socket.
    pub(crate) fn begin(&mut self, version: Version, no_coalescing: Option<i32>) {
        self.counts = DatagramCounts { no_coalescing, ..DatagramCounts::default() };
        self.version = version;
        self.kept.clear();
        self.kept_bytes = 0;
    }

    /// Whether datagrams wait for the kernel.
    pub(crate) fn waits(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Sends datagrams behind those that wait.
    ///
    /// # Errors
    /// The errno of a socket that is of no use any more.
    pub(crate) fn send(
        &mut self,
        datagrams: OutDatagrams<'_>,
        kernel: impl FnMut(&[u8], &Beside) -> Result<(), i32>,
    ) -> Result<(), i32> {
        let done = if self.waits() { 0 } else { self.hand_over(datagrams, kernel)? };
        if done < datagrams.bytes.len() {
            self.keep(OutDatagrams { bytes: &datagrams.bytes[done..], ..datagrams });
        }
        Ok(())
    }

    /// Sends those that wait until none is left or the kernel takes no more.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub(crate) fn send_kept(
        &mut self,
        mut kernel: impl FnMut(&[u8], &Beside) -> Result<(), i32>,
    ) -> Result<(), i32> {
        while let Some(mut kept) = self.take_kept() {
            let done = self.hand_over(kept.datagrams(), &mut kernel)?;
            if done < kept.bytes.len() {
                kept.bytes.drain(..done);
                self.kept_bytes += kept.bytes.len();
                self.kept.push_front(kept);
                break;
            }
        }
        Ok(())
    }

    /// Keeps a copy for later, unless too much waits already.
    pub(crate) fn keep(&mut self, datagrams: OutDatagrams<'_>) {
        if self.kept_bytes + datagrams.bytes.len() > KEPT_BYTES_MAX {
            self.counts.given_up += datagrams.count() as u64;
            return;
        }
        self.kept_bytes += datagrams.bytes.len();
        let OutDatagrams { bytes, segment_bytes, ecn } = datagrams;
        self.kept.push_back(Kept { bytes: bytes.to_vec(), segment_bytes, ecn });
    }

    /// Those that have waited longest.
    pub(crate) fn take_kept(&mut self) -> Option<Kept> {
        let kept = self.kept.pop_front()?;
        self.kept_bytes -= kept.bytes.len();
        Some(kept)
    }

    /// The socket goes: what waits is given up.
    pub(crate) fn give_up(&mut self) {
        while let Some(kept) = self.take_kept() {
            self.counts.given_up += kept.datagrams().count() as u64;
        }
    }

    /// What to give the kernel of these in one call: the bytes, and what goes beside them.
    pub(crate) fn next_call<'a>(&self, datagrams: OutDatagrams<'a>) -> (&'a [u8], Beside) {
        let OutDatagrams { bytes, segment_bytes, ecn } = datagrams;
        let one = bytes.len().min(segment_bytes.max(1));
        let cut = u16::try_from(one).ok().filter(|_| self.counts.no_segmentation.is_none());
        match cut {
            Some(segment) if one < bytes.len() => {
                (bytes, Beside::new(Some(segment), ecn, self.version))
            }
            _ => (&bytes[..one], Beside::new(None, ecn, self.version)),
        }
    }

    /// Counts what a call sent.
    pub(crate) fn sent(&mut self, bytes: usize, segment_bytes: usize) {
        let sent = &mut self.counts.sent;
        sent.calls += 1;
        sent.datagrams += bytes.div_ceil(segment_bytes.max(1)) as u64;
        sent.bytes += bytes as u64;
    }

    /// A call that was counted by [`Self::sent`] sent nothing.
    pub(crate) fn not_sent(&mut self, bytes: usize, segment_bytes: usize) {
        let sent = &mut self.counts.sent;
        sent.calls -= 1;
        sent.datagrams -= bytes.div_ceil(segment_bytes.max(1)) as u64;
        sent.bytes -= bytes as u64;
    }

    /// Counts what one call received; returns the length of each datagram but the last.
    pub(crate) fn received(&mut self, bytes: usize, beside: &Received) -> usize {
        let segment_bytes = beside.segment_bytes.unwrap_or(bytes).max(1);
        let received = &mut self.counts.received;
        received.calls += 1;
        received.datagrams += bytes.div_ceil(segment_bytes).max(1) as u64;
        received.bytes += bytes as u64;
        if let Some(dropped) = beside.dropped {
            self.note_dropped(dropped);
        }
        segment_bytes
    }

    /// The kernel's count of what it dropped, of which it says 32 bits.
    pub(crate) fn note_dropped(&mut self, dropped: u32) {
        let more = dropped.wrapping_sub(self.counts.dropped as u32);
        // One that came beside earlier datagrams says less than what was asked for since.
        if more <= u32::MAX / 2 {
            self.counts.dropped += u64::from(more);
        }
    }

    /// Gives them to the kernel until it takes no more; how many bytes are done with.
    fn hand_over(
        &mut self,
        datagrams: OutDatagrams<'_>,
        mut kernel: impl FnMut(&[u8], &Beside) -> Result<(), i32>,
    ) -> Result<usize, i32> {
        let mut done = 0;
        let mut tried_again = false;
        while done < datagrams.bytes.len() {
            let rest = OutDatagrams { bytes: &datagrams.bytes[done..], ..datagrams };
            let (bytes, beside) = self.next_call(rest);
            match kernel(bytes, &beside) {
                Ok(()) => {
                    self.sent(bytes.len(), datagrams.segment_bytes);
                    done += bytes.len();
                    tried_again = false;
                }
                Err(libc::EAGAIN) => break,
                Err(libc::EMSGSIZE) if !tried_again => tried_again = true,
                Err(errno) => match SendError::of(errno, bytes.len() > datagrams.segment_bytes) {
                    SendError::Segmentation => self.counts.no_segmentation = Some(errno),
                    SendError::TooLong => done += bytes.len(),
                    SendError::NoMemory => {
                        self.counts.given_up += OutDatagrams { bytes, ..datagrams }.count() as u64;
                        done += bytes.len();
                    }
                    SendError::Broken => return Err(errno),
                },
            }
        }
        Ok(done)
    }
}

/// Why the kernel did not send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendError {
    /// It does not cut one call's bytes into datagrams.
    Segmentation,
    /// The datagram is longer than the path takes, such as QUIC sends to find that out (RFC 9000, section 14.3): it
    /// is lost. The errno may also tell of an earlier one: ICMP said so of it (`__udp4_lib_err`), or the kernel tells
    /// twice (seen on 6.18). So it counts the second time.
    TooLong,
    /// It has no memory for it.
    NoMemory,
    /// The socket sends nothing any more.
    Broken,
}

impl SendError {
    pub(crate) fn of(errno: i32, cut: bool) -> Self {
        match errno {
            // EIO where the device sums no checksums, EINVAL where the socket or the kernel does not cut
            // (`udp_send_skb`).
            libc::EIO | libc::EINVAL if cut => Self::Segmentation,
            libc::EMSGSIZE => Self::TooLong,
            libc::ENOBUFS | libc::ENOMEM => Self::NoMemory,
            _ => Self::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagrams(bytes: &[u8], segment_bytes: usize) -> OutDatagrams<'_> {
        OutDatagrams { bytes, segment_bytes, ecn: 0 }
    }

    #[test]
    fn where_the_kernel_does_not_cut_each_datagram_is_a_call() {
        let mut sending = Sending::new();
        let mut lengths = Vec::new();
        let sent = sending.send(datagrams(&[7; 2500], 1000), |bytes, _| match bytes.len() {
            2500 => Err(libc::EIO),
            length => {
                lengths.push(length);
                Ok(())
            }
        });
        assert_eq!(sent, Ok(()));
        assert_eq!(lengths, [1000, 1000, 500]);
        assert_eq!(sending.counts.no_segmentation, Some(libc::EIO));
        assert_eq!((sending.counts.sent.calls, sending.counts.sent.datagrams), (3, 3));
    }

    #[test]
    fn what_the_kernel_does_not_take_is_kept_in_order_up_to_a_bound() {
        let mut sending = Sending::new();
        let mut room = 1;
        let first: Vec<u8> = (0..30).collect();
        sending.counts.no_segmentation = Some(libc::EIO);
        let mut left = Vec::new();
        let kernel = |bytes: &[u8], left: &mut Vec<u8>, room: &mut i32| {
            *room -= 1;
            if *room < 0 {
                return Err(libc::EAGAIN);
            }
            left.extend_from_slice(bytes);
            Ok(())
        };
        sending.send(datagrams(&first, 10), |b, _| kernel(b, &mut left, &mut room)).unwrap();
        assert!(sending.waits());
        sending.send(datagrams(&[99], 1), |_, _| panic!("out of turn")).unwrap();
        room = 1;
        sending.send_kept(|b, _| kernel(b, &mut left, &mut room)).unwrap();
        assert!(sending.waits());
        room = 9;
        sending.send_kept(|b, _| kernel(b, &mut left, &mut room)).unwrap();
        assert!(!sending.waits());
        assert_eq!(left, [&first[..], &[99]].concat());
        assert_eq!(sending.counts.sent.datagrams, 4);
        let large = vec![0; 60_000];
        for _ in 0..11 {
            sending.send(datagrams(&large, 1000), |_, _| Err(libc::EAGAIN)).unwrap();
        }
        assert_eq!(sending.counts.given_up, 60);
        sending.give_up();
        assert_eq!(sending.counts.given_up, 11 * 60);
    }

    #[test]
    fn a_datagram_too_long_is_lost_and_one_that_heard_of_another_is_not() {
        let mut sending = Sending::new();
        sending.send(datagrams(&[1; 9000], 9000), |_, _| Err(libc::EMSGSIZE)).unwrap();
        assert_eq!(sending.counts.sent.datagrams, 0);
        let mut pending = true;
        let sent = sending.send(datagrams(&[1; 1200], 1200), |_, _| {
            if std::mem::take(&mut pending) { Err(libc::EMSGSIZE) } else { Ok(()) }
        });
        assert_eq!((sent, sending.counts.sent.datagrams), (Ok(()), 1));
        let broken = sending.send(datagrams(&[1; 1200], 1200), |_, _| Err(libc::ECONNREFUSED));
        assert_eq!(broken, Err(libc::ECONNREFUSED));
    }
}
