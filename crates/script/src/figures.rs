//! What `done` is told: `summary`, and `latency` and `requests` with their methods.

use mlua::{Lua, MetaMethod, Result, Table, UserData, UserDataFields, UserDataMethods};

/// The totals of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Summary {
    /// Length of the run, µs.
    pub duration_us: u64,
    /// Responses.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// What went wrong.
    pub errors: Errors,
}

/// Errors as wrk tells them apart.
#[derive(Debug, Clone, Copy, Default)]
pub struct Errors {
    /// Connecting.
    pub connect: u64,
    /// Reading.
    pub read: u64,
    /// Writing.
    pub write: u64,
    /// Responses of status 400 and above.
    pub status: u64,
    /// Timeouts.
    pub timeout: u64,
}

/// Values of one kind: latencies in µs, or requests per second.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    /// The smallest; 0 without values.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stdev: f64,
    /// Each whole value and how often it came, ascending.
    pub values: Vec<(u64, u64)>,
}

impl Distribution {
    /// The value at a percentile (0 to 100), by wrk's rank; 0 without values.
    fn percentile(&self, percent: f64) -> u64 {
        let count: u64 = self.values.iter().map(|(_, count)| count).sum();
        let rank = (percent / 100.0 * count as f64 + 0.5).round() as u64;
        let mut seen = 0;
        let found = self.values.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.or(self.values.last()).map_or(0, |(value, _)| *value)
    }
}

impl UserData for Distribution {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, this| Ok(this.min));
        fields.add_field_method_get("max", |_, this| Ok(this.max));
        fields.add_field_method_get("mean", |_, this| Ok(this.mean));
        fields.add_field_method_get("stdev", |_, this| Ok(this.stdev));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, this, percent: f64| Ok(this.percentile(percent)));
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.values.len()));
        // `latency(i)`: the i-th different value, from 1, and how often it came.
        methods.add_meta_method(MetaMethod::Call, |_, this, index: f64| {
            let found = (index >= 1.0).then(|| this.values.get(index as usize - 1)).flatten();
            Ok(found.copied().unwrap_or((0, 0)))
        });
    }
}

/// `summary`.
pub fn summary(lua: &Lua, summary: &Summary) -> Result<Table> {
    let errors = lua.create_table()?;
    let Errors { connect, read, write, status, timeout } = summary.errors;
    let counts = [connect, read, write, status, timeout];
    for (name, count) in ["connect", "read", "write", "status", "timeout"].into_iter().zip(counts) {
        errors.raw_set(name, count)?;
    }
    let table = lua.create_table()?;
    table.raw_set("duration", summary.duration_us)?;
    table.raw_set("requests", summary.requests)?;
    table.raw_set("bytes", summary.bytes)?;
    table.raw_set("errors", errors)?;
    Ok(table)
}
