//! Users whose requests go to several origins: each user has a connection to each of them and is at one at a time. The
//! others stand idle meanwhile, or have no socket.
//!
//! Slots are numbered by origin and then by user; a spare slot that takes another's place in the load takes its user and
//! its origin.

use ablaze_net::Slot;

use super::Worker;
use crate::protocol::Protocol;
use ablaze_model::plan::Plan;

/// What a worker knows of the origins beside the target.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    origins: Vec<Origin>,
    users: u32,
    /// The slot of each user's connection to each origin, in the order of their first numbers; empty with one origin.
    seats: Vec<Slot>,
}

/// The addresses of an origin.
#[derive(Debug)]
struct Origin {
    /// The driver's number of the first.
    first: usize,
    count: usize,
    /// Which of them is connected to.
    at: usize,
    has_stood: bool,
}

impl Elsewhere {
    /// For this many users.
    pub fn new(plan: &Plan, users: u32) -> Self {
        let mut first = plan.target.addresses.len();
        let origins: Vec<Origin> = plan
            .target
            .others
            .iter()
            .map(|origin| {
                let count = origin.addresses.len();
                first += count;
                Origin { first: first - count, count, at: 0, has_stood: false }
            })
            .collect();
        let seats = match origins.len() as u32 {
            0 => Vec::new(),
            others => (0..users * (others + 1)).collect(),
        };
        Self { origins, users, seats }
    }

    fn of(&mut self, origin: u16) -> Option<&mut Origin> {
        self.origins.get_mut(usize::from(origin).checked_sub(1)?)
    }
}

impl<P: Protocol> Worker<P> {
    /// Every connection gets its user and its origin, and every user is at the target's.
    pub(super) fn seat_users(&mut self, users: u32) {
        for (slot, connection) in self.connections.iter_mut().enumerate() {
            if !connection.is_spare && users > 0 {
                connection.user = slot as u32 % users;
                connection.origin = (slot as u32 / users) as u16;
                connection.is_left = connection.origin > 0;
            }
        }
    }

    /// A user goes on to an origin, from one of its connections. Returns the slot of the connection that it is at then.
    pub(crate) fn move_user(&mut self, slot: Slot, origin: u32) -> Slot {
        let connection = &mut self.connections[slot as usize];
        if u32::from(connection.origin) == origin || self.elsewhere.seats.is_empty() {
            return slot;
        }
        connection.is_left = true;
        let to = self.seat(slot, origin);
        self.connections[to as usize].is_left = false;
        to
    }

    /// The slot of the connection to an origin that belongs with a slot: of the same user, or of the same users.
    pub(crate) fn seat(&self, slot: Slot, origin: u32) -> Slot {
        let connection = &self.connections[slot as usize];
        let seat = origin * self.elsewhere.users + connection.user;
        self.elsewhere.seats.get(seat as usize).copied().unwrap_or(slot)
    }

    /// A slot takes the place of another in the load.
    pub(super) fn hand_origin_over(&mut self, from: Slot, to: Slot) {
        if self.elsewhere.seats.is_empty() {
            return;
        }
        let left = &mut self.connections[from as usize];
        let seat = u32::from(left.origin) * self.elsewhere.users + left.user;
        let (origin, is_left) = (left.origin, std::mem::take(&mut left.is_left));
        self.elsewhere.seats[seat as usize] = to;
        let next = &mut self.connections[to as usize];
        (next.origin, next.is_left) = (origin, is_left);
    }

    /// Which address of its origin a slot is to be connected to, and the driver's number of it.
    pub(crate) fn endpoint(&mut self, slot: Slot) -> (usize, u16) {
        let origin = self.connections[slot as usize].origin;
        match self.elsewhere.of(origin) {
            None => (self.address, self.address as u16),
            Some(origin) => (origin.at, (origin.first + origin.at) as u16),
        }
    }

    /// How many addresses the origin of a slot has.
    pub(super) fn addresses_of(&mut self, slot: Slot) -> usize {
        let origin = self.connections[slot as usize].origin;
        self.elsewhere.of(origin).map_or(self.addresses, |origin| origin.count)
    }

    /// A connection of a slot stands.
    pub(super) fn origin_stands(&mut self, slot: Slot) {
        if let Some(origin) = self.elsewhere.of(self.connections[slot as usize].origin) {
            origin.has_stood = true;
        }
    }

    /// Another origin than the target took no connection: unless one stood already, the next of its addresses may be
    /// better. Whether none stood; `None` if it is the target.
    pub(super) fn elsewhere_failed(&mut self, slot: Slot) -> Option<bool> {
        let connection = &mut self.connections[slot as usize];
        let origin = self.elsewhere.of(connection.origin)?;
        connection.failed_attempts += 1;
        if !origin.has_stood && connection.address == origin.at {
            origin.at = (origin.at + 1) % origin.count;
        }
        Some(!origin.has_stood)
    }
}
