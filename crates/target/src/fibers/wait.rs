//! What fibers and their scheduler say to each other: what a fiber waits for when it suspends
//! itself, and why it was resumed.

use std::ops::{BitOr, BitOrAssign};

/// What a fiber waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// That its descriptor can be read.
    Readable {
        /// The end of the server ends this wait too.
        until_stop: bool,
    },
    /// That its descriptor can be written.
    Writable,
    /// The time in `until_ns`, unless the connection breaks before.
    Time,
    /// Its next turn, after the other runnable fibers.
    Turn,
}

/// What a fiber says when it suspends itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// What it waits for.
    pub awaited: Awaited,
    /// When it is to be resumed at the latest; [`NEVER_NS`] for no such time.
    pub until_ns: u64,
}

/// No time limit.
pub const NEVER_NS: u64 = u64::MAX;

/// Why a fiber was resumed: a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Woken(u8);

impl Woken {
    /// There may be something to read.
    pub const READABLE: Self = Self(1);
    /// Something may be written.
    pub const WRITABLE: Self = Self(2);
    /// The other side sends no more.
    pub const ENDING: Self = Self(4);
    /// The time has come.
    pub const DUE: Self = Self(8);
    /// The server stops.
    pub const STOPPING: Self = Self(16);
    /// The fiber has to end now.
    pub const ENDED: Self = Self(32);
    /// The connection was reset, or is closed on both sides.
    pub const BROKEN: Self = Self(64);

    /// Whether it says any of these.
    #[inline]
    pub fn says(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// This set without `these`.
    pub fn without(self, these: Self) -> Self {
        Self(self.0 & !these.0)
    }
}

impl BitOr for Woken {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Woken {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
