//! What a multishot receive does not tell: a reset that arrives together with bytes.

use super::{STREAM, Stage, Suspicion, UringIo};
use crate::driver::Slot;

/// How long a multishot receive that delivered bytes may say nothing more before it is begun anew.
const LOOK_AGAIN_NS: u64 = 10_000_000;

impl UringIo {
    /// Bytes came from the peer: it has what was sent before.
    #[inline]
    pub(in crate::uring) fn heard(&mut self, slot: Slot) {
        let state = &mut self.slots[slot as usize];
        state.unheard_bytes = 0;
        state.suspicion = Suspicion::Suspected;
    }

    /// After a multishot receive delivered bytes. A reset that came together with them is never
    /// told: the poll behind it has fired, and the kernel does not look again (seen on 6.18; a
    /// FIN it does tell). Who answers the bytes with a send learns of it by that. For who goes on
    /// waiting, for the rest or for the end, the receive is begun anew after a while.
    #[inline]
    pub(in crate::uring) fn suspect(&mut self, slot: Slot, at: u64) {
        let state = &self.slots[slot as usize];
        let suspected = state.suspicion == Suspicion::Suspected;
        if suspected && state.receiving.is_armed(STREAM) && !self.careful {
            self.suspects.push_back((at + LOOK_AGAIN_NS, slot, state.generation));
        }
    }

    /// Begins receives anew that are due for it; returns when the next one is.
    pub(in crate::uring) fn look_again(&mut self, now: u64) -> u64 {
        while let Some(&(due, slot, generation)) = self.suspects.front() {
            if due > now {
                return due;
            }
            self.suspects.pop_front();
            let state = &mut self.slots[slot as usize];
            let suspected = state.suspicion == Suspicion::Suspected;
            let waits = suspected && state.receiving.is_armed(STREAM);
            if waits && state.generation == generation && state.stage != Stage::Free {
                state.suspicion = Suspicion::LookedAgain;
                self.stop_receiving(slot);
            }
        }
        u64::MAX
    }
}
