//! Experiments and searches as reports: what is compared and drawn ([`comparison`], [`curve`]), and each form of it:
//! text for the terminal, the page, charts, JSON, CSV. It all comes from the data of
//! [`ablaze_model::experiment`]; `ablaze-lab` carries experiments out and keeps them.

pub mod cases;
pub mod charts;
pub mod comparison;
pub mod counters;
pub mod csv;
pub mod curve;
pub mod groups;
pub mod json;
mod over_loads;
pub mod page;
pub mod pooled;
pub mod profiles;
pub mod search_page;
mod stages;
pub mod text;
mod whence;
mod workers;
