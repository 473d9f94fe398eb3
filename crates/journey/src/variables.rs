//! Variables: names while a file is compiled, slots in a vector while it runs. And what a run brings from outside of it:
//! the time and randomness.

use std::collections::HashMap;

use crate::value::Value;

/// The names of all variables of a journey. A variable's slot is its place here.
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: Vec<String>,
    slots: HashMap<String, usize>,
}

impl Names {
    /// The slot of a variable, a new one if it has none.
    pub fn add(&mut self, name: &str) -> usize {
        if let Some(slot) = self.slot(name) {
            return slot;
        }
        let slot = self.names.len();
        self.names.push(name.to_owned());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    /// The slot of a variable that a file uses or sets.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
    }

    /// The name of a variable.
    pub fn name(&self, slot: usize) -> &str {
        self.names.get(slot).map_or("?", String::as_str)
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The values of one user's variables, by their slots.
#[derive(Debug, Clone, Default)]
pub struct Variables(Vec<Option<Value>>);

impl Variables {
    /// None set, of so many.
    pub fn new(slots: usize) -> Self {
        Self(vec![None; slots])
    }

    /// The value of a variable, if it is set.
    pub fn get(&self, slot: usize) -> Option<&Value> {
        self.0.get(slot).and_then(Option::as_ref)
    }

    /// Sets a variable, or takes its value away.
    pub fn set(&mut self, slot: usize, value: Option<Value>) {
        if self.0.len() <= slot {
            self.0.resize(slot + 1, None);
        }
        self.0[slot] = value;
    }

    /// Sets a variable to text, in the memory it has if it holds text already: a feed's column, a counter.
    pub fn set_text(&mut self, slot: usize, text: &str) {
        match self.0.get_mut(slot) {
            Some(Some(Value::Text(own))) => {
                own.clear();
                own.push_str(text);
            }
            _ => self.set(slot, Some(Value::from(text))),
        }
    }

    /// As `other`, in the memory that is there: what an iteration begins with.
    pub fn reset_to(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}

/// What this crate does not know by itself.
pub trait Moment {
    /// The time: µs since 1970, UTC.
    fn unix_us(&mut self) -> i64;
    /// Random bits, for UUIDs.
    fn random(&mut self) -> u128;
}

/// What is at hand while something is evaluated.
pub(crate) struct Scope<'a, M> {
    pub variables: &'a Variables,
    pub names: &'a Names,
    pub moment: &'a mut M,
}
