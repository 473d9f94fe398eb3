//! What a sweep varies: options of the load or of built-in servers, variables of the environment of targets, the path,
//! and placeholders. An axis is a name with its values; a cell is the load and the targets under one value of each.
//!
//! [`wanted`] reads what was asked for, [`place`] says where the values of a name go, [`settings`] puts those of one cell
//! there, and [`cells()`] makes all of them, before anything starts.

mod bound;
mod cells;
mod place;
mod settings;
mod wanted;

pub use bound::{refuse_if_long, refuse_if_many};
pub use cells::{Scene, Varied, cells};
pub use settings::Settings;
pub use wanted::{Wanted, of_words};

#[cfg(test)]
mod tests;
