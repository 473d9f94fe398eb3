//! Where a target has HTTP/3, as it said itself in the field Alt-Svc (RFC 7838).

use serde::{Deserialize, Serialize};

/// The alternative that is loaded instead of the origin. Certificate and `:authority` stay those of the origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// Host name or address literal, without brackets; that of the origin if the field named none.
    pub host: String,
    /// Port of UDP.
    pub port: u16,
    /// For so long the server vouches for it, s.
    pub max_age_s: u64,
    /// The field's whole value.
    pub field: String,
}
