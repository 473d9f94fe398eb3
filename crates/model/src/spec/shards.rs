//! A load in parts that several machines carry out at the same time.

use super::requests::{Bodies, Part};
use super::{LoadSpec, Shape};
use crate::plan::{Load, Plan};

/// Why a load cannot be cut so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// There is less of something than there are parts.
    #[error("{number} {what} cannot be split between {of} machines: use {of} or more")]
    TooFew {
        /// What there is too little of.
        what: &'static str,
        /// How many there are.
        number: u64,
        /// Among how many they are to be shared.
        of: u32,
    },
    /// There is no such part.
    #[error("there is no part {index} of {of}: parts count from 0")]
    NoPart {
        /// The part asked for, from 0.
        index: u32,
        /// Of how many.
        of: u32,
    },
}

impl LoadSpec {
    /// Makes of the spec of one part that of all, whose Plans were added to this one.
    pub fn of_all_shards(&mut self, plan: &Plan) {
        self.shape = match plan.load {
            Load::Closed { connections, .. } => Shape::Closed { connections: Some(connections) },
            Load::Open { rate, arrivals, connections, bounded } => {
                Shape::Open { rate, arrivals, connections: bounded.then_some(connections) }
            }
        };
        self.limits.requests = plan.limits.requests;
        (self.part, self.requests_of_all, self.seed_of_all) = (None, None, None);
        let ramp = plan.journey.as_ref().and_then(|journey| journey.users.ramp);
        self.requests.users.ramp_from = ramp.map(|ramp| ramp.from);
        if let Some(feed) = &mut self.requests.urls {
            feed.part = None;
        }
        if let Bodies::InTurn(feed) = &mut self.requests.bodies {
            feed.part = None;
        }
    }

    /// Part `index` (from 0) of `of` parts that together do what this asks for: connections, requests
    /// and rates are shared out, the entries of lists dealt in turn, and so are the arrivals of the one schedule of an open
    /// loop, random or not, and so is what `{seq}` counts; `{rand:N}` has a seed of its own in each.
    ///
    /// # Errors
    /// When there are fewer connections or requests than parts.
    pub fn shard(&self, index: u32, of: u32) -> Result<Self, ShardError> {
        if index >= of {
            return Err(ShardError::NoPart { index, of });
        }
        let shared = |what: &'static str, number: u64| {
            let share =
                number / u64::from(of) + u64::from(u64::from(index) < number % u64::from(of));
            if share == 0 { Err(ShardError::TooFew { what, number, of }) } else { Ok(share) }
        };
        let connections =
            |number: u32| shared("connections", number.into()).map(|share| share as u32);
        let mut shard = self.clone();
        shard.shape = match self.shape {
            Shape::Closed { .. } => {
                Shape::Closed { connections: Some(connections(self.closed_connections())?) }
            }
            Shape::Open { mut rate, arrivals, connections: most } => {
                rate.from_per_s /= f64::from(of);
                rate.to_per_s /= f64::from(of);
                Shape::Open { rate, arrivals, connections: most.map(connections).transpose()? }
            }
        };
        let requests = self.limits.requests.map(|number| shared("requests", number));
        shard.limits.requests = requests.transpose()?;
        // Part of a part: of every `before.of`th entry, every `of`th.
        let cut = |before: Option<Part>| match before {
            None => Part { index, of },
            Some(before) => Part { index: before.index + index * before.of, of: before.of * of },
        };
        shard.part = Some(cut(self.part));
        shard.requests_of_all = self.requests_of_all.or(self.limits.requests);
        if let Some(feed) = &mut shard.requests.urls {
            feed.part = Some(cut(feed.part));
        }
        if let Bodies::InTurn(feed) = &mut shard.requests.bodies {
            feed.part = Some(cut(feed.part));
        }
        if let Some(data) = &mut shard.requests.data {
            data.feed.part = Some(cut(data.feed.part));
        }
        if let Some(from) = &mut shard.requests.users.ramp_from {
            *from = *from / of + u32::from(index < *from % of);
        }
        shard.seed_of_all = self.seed_of_all.or(Some(self.requests.seed));
        shard.requests.seed = self.requests.seed.wrapping_add(u64::from(index));
        Ok(shard)
    }
}
