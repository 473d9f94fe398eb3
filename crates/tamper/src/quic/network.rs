//! What lies between the two: datagrams arrive later, and not all of them as they left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::choices::Choices;

/// One way through it.
const DELAY_NS: u64 = 1_000_000;

/// When it arrives, its order, whether it goes to the far end, its bytes.
type OnItsWay = Reverse<(u64, u64, bool, Vec<u8>)>;

/// Datagrams on their way.
#[derive(Default)]
pub struct Network {
    datagrams: BinaryHeap<OnItsWay>,
    order: u64,
    /// One that waits to be joined with the next in its direction.
    halves: [Option<Vec<u8>>; 2],
}

impl Network {
    /// Takes a datagram, and does with it what is chosen.
    pub fn put(&mut self, to_far: bool, mut datagram: Vec<u8>, now_ns: u64, choices: &mut Choices) {
        if let Some(mut first) = self.halves[usize::from(to_far)].take() {
            first.extend_from_slice(&datagram);
            datagram = first;
        }
        let mut at_ns = now_ns + DELAY_NS;
        match choices.byte() {
            // Half of all bytes leave it alone.
            200..=207 => return,
            208..=215 => self.deliver(to_far, datagram.clone(), at_ns + DELAY_NS / 2),
            216..=223 => at_ns += DELAY_NS * u64::from(choices.byte()),
            224..=231 => datagram.truncate(choices.up_to(datagram.len())),
            232..=239 => {
                self.halves[usize::from(to_far)] = Some(datagram);
                return;
            }
            240..=247 if !datagram.is_empty() => {
                let at = choices.up_to(datagram.len() - 1);
                datagram[at] ^= choices.byte();
            }
            248..=251 => {
                let behind = datagram.split_off(choices.up_to(datagram.len()));
                self.deliver(to_far, behind, at_ns);
            }
            252..=255 => self.deliver(to_far, choices.bytes(80), at_ns),
            _ => {}
        }
        self.deliver(to_far, datagram, at_ns);
    }

    /// When the next arrives.
    pub fn due_ns(&self) -> Option<u64> {
        self.datagrams.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// What has arrived next: whether at the far end, and datagrams of one size as a kernel hands them over together.
    pub fn arrived(&mut self, now_ns: u64) -> Option<(bool, Vec<u8>, usize)> {
        if self.due_ns()? > now_ns {
            return None;
        }
        let Reverse((_, _, to_far, mut datagrams)) = self.datagrams.pop()?;
        let segment_bytes = datagrams.len();
        while let Some(Reverse((at_ns, _, next_to_far, next))) = self.datagrams.peek()
            && (!to_far && !next_to_far && *at_ns <= now_ns)
            && datagrams.len().is_multiple_of(segment_bytes.max(1))
            && next.len() <= segment_bytes
            && datagrams.len() + next.len() <= usize::from(u16::MAX)
        {
            datagrams.extend_from_slice(next);
            self.datagrams.pop();
        }
        Some((to_far, datagrams, segment_bytes))
    }

    fn deliver(&mut self, to_far: bool, datagram: Vec<u8>, at_ns: u64) {
        self.order += 1;
        self.datagrams.push(Reverse((at_ns, self.order, to_far, datagram)));
    }
}
