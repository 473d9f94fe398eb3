//! How fast the connections of a closed loop were permitted to send.

use super::APART;
use crate::rules::work::{Pace, Work};
use crate::words::amount;

/// hey, oha, bombardier and h2load send no more per second than they are told,
/// and siege's users pause.
pub fn differs(a: &Work, b: &Work) -> Option<String> {
    let (x, y) = (a.pace?, b.pace?);
    let equal = match (x, y) {
        (Pace::AtMost(x), Pace::AtMost(y)) => (x - y).abs() <= APART * x.max(y),
        (x, y) => x == y,
    };
    let words = |pace| match pace {
        Pace::AtMost(per_s) => format!("at most {}/s", amount(per_s)),
        Pace::Pauses => "users that pause".to_owned(),
        Pace::Full => "no limit".to_owned(),
    };
    (!equal).then(|| match (x, y) {
        (Pace::Pauses, _) | (_, Pace::Pauses) => {
            let words = |pace| match pace {
                Pace::Full => "users without pauses".to_owned(),
                pace => words(pace),
            };
            format!("{} against {}", words(x), words(y))
        }
        _ => format!("{} requested against {}", words(x), words(y)),
    })
}
