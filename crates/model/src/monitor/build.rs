//! How a program was built, as far as it tells.

use serde::{Deserialize, Serialize};

/// How a program was built.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The compiler and its version: `GNU C17 12.2.0`, `rustc version 1.95.0`, `go1.24.1`.
    pub compiler: Option<String>,
    /// Its options, where the debug data has them.
    pub options: Option<String>,
    /// The one of them that says how to optimise: `-O2`; `-O0` also where options were written down
    /// and none says so, which is a compiler's default; `-N` of Go, which turns optimisation off.
    pub optimisation: Option<String>,
    /// Compile units that were looked at and tell.
    pub units: u64,
    /// Of those, compiled without optimisation.
    pub unoptimised_units: u64,
    /// Sanitizers in it: `address`, `thread`, `memory`, `undefined`, `leak`, `race` (Go's).
    pub sanitizers: Vec<String>,
}
