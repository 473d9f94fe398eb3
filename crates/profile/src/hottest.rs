//! Where most of the time went, function by function. What the compiler put into its caller is the
//! caller's: which of its lines an instruction belongs to is a guess, and their names say little.

use std::collections::{BTreeMap, BTreeSet};

use crate::folded::PerRequest;
use crate::names::INLINED;

/// CPU time per request of one function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// In the function itself, ns.
    pub own_ns: f64,
    /// In it and in all that it called, ns.
    pub through_ns: f64,
}

/// One function in two profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// In the function itself, ns per request of the first.
    pub before_ns: f64,
    /// The same of the second.
    pub after_ns: f64,
}

/// The functions that took most by themselves, at most so many, and those that took most with what they called, at most so
/// many; descending by what they took themselves.
pub fn hottest(profile: &PerRequest, by_own: usize, by_through: usize) -> Vec<Function> {
    let mut functions = functions(profile);
    functions.sort_by(|one, other| other.through_ns.total_cmp(&one.through_ns));
    let through = functions.get(by_through.saturating_sub(1)).map_or(0.0, |last| last.through_ns);
    functions.sort_by(|one, other| other.own_ns.total_cmp(&one.own_ns));
    let mut left = (by_own, by_through);
    functions.retain(|function| {
        let own = function.own_ns > 0.0 && left.0 > 0;
        let through = function.through_ns >= through && left.1 > 0;
        left = (left.0 - usize::from(own), left.1 - usize::from(through));
        own || through
    });
    functions
}

/// Every function, in alphabetical order.
fn functions(profile: &PerRequest) -> Vec<Function> {
    let mut functions: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (frames, ns) in &profile.stacks {
        let frames = || frames.split(';').filter(|name| !name.ends_with(INLINED));
        let names: BTreeSet<&str> = frames().collect();
        for name in names {
            functions.entry(name).or_default().1 += ns;
        }
        if let Some(innermost) = frames().next_back() {
            functions.entry(innermost).or_default().0 += ns;
        }
    }
    functions
        .into_iter()
        .map(|(name, (own_ns, through_ns))| Function { name: name.to_owned(), own_ns, through_ns })
        .collect()
}

/// The functions whose own time differs most between two profiles, at most this many. Unlike a graph it
/// finds a function again that another one calls.
pub fn most_changed(before: &PerRequest, after: &PerRequest, most: usize) -> Vec<Changed> {
    let mut changes: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for function in functions(before) {
        changes.entry(function.name).or_default().0 = function.own_ns;
    }
    for function in functions(after) {
        changes.entry(function.name).or_default().1 = function.own_ns;
    }
    let mut changed: Vec<Changed> = changes
        .into_iter()
        .map(|(name, (before_ns, after_ns))| Changed { name, before_ns, after_ns })
        .filter(|changed| changed.before_ns != 0.0 || changed.after_ns != 0.0)
        .collect();
    let change = |changed: &Changed| (changed.after_ns - changed.before_ns).abs();
    changed.sort_by(|one, other| change(other).total_cmp(&change(one)));
    changed.truncate(most);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::sample;

    fn per_request(stacks: &[(&str, u64)]) -> PerRequest {
        PerRequest::of(&sample::profile(stacks, 1_000))
    }

    #[test]
    fn own_time_is_not_that_of_what_was_called() {
        let functions = hottest(&per_request(&[("a;b;d_[i]", 5), ("a", 1), ("a;c;b", 2)]), 10, 10);
        let told: Vec<_> =
            functions.iter().map(|f| (f.name.as_str(), f.own_ns, f.through_ns)).collect();
        let expected = [("b", 7_000.0, 7_000.0), ("a", 1_000.0, 8_000.0), ("c", 0.0, 2_000.0)];
        assert_eq!(told, expected);
        // One by its own time, one by that with what it calls; they may be the same.
        let names = |stacks: &[(&str, u64)]| {
            let functions = hottest(&per_request(stacks), 1, 1).into_iter();
            functions.map(|function| function.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[("a;b", 5), ("a", 1), ("a;c", 2)]), ["b", "a"]);
        assert_eq!(names(&[("a;b", 1), ("a", 5), ("a;c", 2)]), ["a"]);
    }

    #[test]
    fn what_changed_most_comes_first_wherever_it_was_called_from() {
        let (before, after) = (
            per_request(&[("a;send", 4), ("a;b", 3)]),
            per_request(&[("x;send", 5), ("x;b", 9), ("x;c", 1)]),
        );
        let changed = most_changed(&before, &after, 2);
        assert_eq!(changed[0], Changed { name: "b".into(), before_ns: 3_000.0, after_ns: 9_000.0 });
        assert_eq!(changed.len(), 2);
    }
}
