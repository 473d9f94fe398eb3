//! Places for a worker's connections. A request on the ring carries the place and its generation,
//! so that a completion of a connection that is gone is recognised.

use super::connection::Connection;

/// Generations are told apart by so many bits: what a request's tag has room for.
const GENERATION_MASK: u32 = 0xff_ffff;

/// Where a connection is: place and generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The place.
    pub slot: u32,
    /// How often it was used before, 24 bits.
    pub generation: u32,
}

/// Connections by key.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    connection: Option<Connection>,
}

impl Slots {
    /// Finds a place and returns its key.
    pub fn insert(&mut self, connection: Connection) -> Key {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, connection: None });
            // A process has far fewer descriptors than 32 bits hold.
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.connection = Some(connection);
        Key { slot: index, generation: slot.generation }
    }

    /// The connection of this key, if it is still there.
    #[inline]
    pub fn get_mut(&mut self, key: Key) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(key.slot as usize)?;
        if slot.generation != key.generation {
            return None;
        }
        slot.connection.as_mut()
    }

    /// Takes the connection of this key out.
    pub fn remove(&mut self, key: Key) -> Option<Connection> {
        let slot = self.slots.get_mut(key.slot as usize)?;
        if slot.generation != key.generation {
            return None;
        }
        let connection = slot.connection.take()?;
        slot.generation = (slot.generation + 1) & GENERATION_MASK;
        self.free.push(key.slot);
        Some(connection)
    }

    /// Keys of all connections.
    pub fn keys(&self) -> Vec<Key> {
        let taken = self.slots.iter().enumerate().filter(|(_, slot)| slot.connection.is_some());
        taken.map(|(index, slot)| Key { slot: index as u32, generation: slot.generation }).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.len() == self.free.len()
    }
}
