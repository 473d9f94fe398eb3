//! Places for a worker's connections. A key names a place and its generation, so that an event or
//! a timer of a connection that is gone is recognised.

use crate::event_loop::connection::Connection;

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
    pub fn insert(&mut self, connection: Connection) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, connection: None });
            // A process has far fewer descriptors than 32 bits hold.
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.connection = Some(connection);
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    /// The connection of this key, if it is still there.
    #[inline]
    pub fn get_mut(&mut self, key: u64) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(key as u32 as usize)?;
        if u64::from(slot.generation) != key >> 32 {
            return None;
        }
        slot.connection.as_mut()
    }

    /// Closes the connection of this key.
    pub fn remove(&mut self, key: u64) {
        let index = key as u32;
        let Some(slot) = self.slots.get_mut(index as usize) else { return };
        if u64::from(slot.generation) == key >> 32 && slot.connection.take().is_some() {
            // The highest generation is left out: keys with it are not connections.
            slot.generation = (slot.generation + 1) % u32::MAX;
            self.free.push(index);
        }
    }

    /// Keys of all connections.
    pub fn keys(&self) -> Vec<u64> {
        let taken = self.slots.iter().enumerate().filter(|(_, slot)| slot.connection.is_some());
        taken.map(|(index, slot)| u64::from(slot.generation) << 32 | index as u64).collect()
    }

    /// Number of connections.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
