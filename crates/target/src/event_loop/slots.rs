//! Places for a worker's connections. A key names a place and its generation, so that an event or
//! a timer of a connection that is gone is recognised.

/// Things by key.
#[derive(Debug)]
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    content: Option<T>,
}

/// The place that a key names: from 0, and used again when its connection is gone.
#[inline]
pub fn place(key: u64) -> usize {
    key as u32 as usize
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Finds a place and returns its key.
    pub fn insert(&mut self, content: T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, content: None });
            // A process has far fewer descriptors than 32 bits hold.
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.content = Some(content);
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    /// What has this key, if it is still there.
    #[inline]
    pub fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        let slot = self.slots.get_mut(place(key))?;
        if u64::from(slot.generation) != key >> 32 {
            return None;
        }
        slot.content.as_mut()
    }

    /// Takes out what has this key.
    pub fn remove(&mut self, key: u64) -> Option<T> {
        let slot = self.slots.get_mut(place(key))?;
        if u64::from(slot.generation) != key >> 32 {
            return None;
        }
        let content = slot.content.take()?;
        // The highest generation is left out: keys with it are not connections.
        slot.generation = (slot.generation + 1) % u32::MAX;
        self.free.push(key as u32);
        Some(content)
    }

    /// All keys.
    pub fn keys(&self) -> Vec<u64> {
        let taken = self.slots.iter().enumerate().filter(|(_, slot)| slot.content.is_some());
        taken.map(|(index, slot)| u64::from(slot.generation) << 32 | index as u64).collect()
    }

    /// Number of things.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_outlives_its_place_and_names_nothing_then() {
        let mut slots = Slots::default();
        let first = slots.insert("first");
        let second = slots.insert("second");
        assert_eq!(slots.remove(first), Some("first"));
        let third = slots.insert("third");
        assert_eq!(place(third), place(first));
        assert_eq!(slots.get_mut(first), None);
        assert_eq!(slots.remove(first), None);
        assert_eq!(slots.get_mut(third), Some(&mut "third"));
        assert_eq!((slots.keys(), slots.len()), (vec![third, second], 2));
    }
}
