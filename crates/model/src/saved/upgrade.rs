//! Files of older formats, brought to the present one before they are read. Format 1 had other names
//! for the same things; nothing else has changed since.

use serde_json::Value;

/// Names of format 1 that format 2 has not: where, the old one, the new one. `*` is every entry of a
/// list.
const RENAMED: [(&[&str], &str, &str); 11] = [
    (&[], "answers", "responses"),
    (&[], "kept_alive", "reused"),
    (&[], "first_answer", "first_response"),
    (&["slices", "*"], "answers", "responses"),
    (&["limits"], "hopeless_after", "unreachable_after"),
    (&["verdict", "findings", "*"], "remedy", "fix"),
    (&["profile", "run"], "tester_cpu_ns", "client_cpu_ns"),
    (&["profile", "refused", "*"], "remedy", "fix"),
    (&["witness", "environment"], "tester_build", "client_build"),
    (&["witness"], "tester", "client"),
    (&[], "witness", "monitor"),
];

/// Values that are names: where, the old one, the new one.
const RENAMED_VALUES: [(&[&str], &str, &str); 4] = [
    (&["ended"], "hopeless", "unreachable"),
    (&["verdict", "limited_by"], "tester", "client"),
    (&["profile", "profiles", "*", "of"], "tester", "client"),
    (&["profile", "refused", "*", "of"], "tester", "client"),
];

/// A file of format 1 as format 2 has it. The number of its format stays what it was.
pub(super) fn to_present(mut file: Value) -> Value {
    for (path, old, new) in RENAMED {
        at(&mut file, path, &mut |place| {
            if let Some(object) = place.as_object_mut()
                && let Some(value) = object.remove(old)
            {
                object.insert(new.to_owned(), value);
            }
        });
    }
    for (path, old, new) in RENAMED_VALUES {
        at(&mut file, path, &mut |place| {
            if place.as_str() == Some(old) {
                *place = new.into();
            }
        });
    }
    file
}

/// The present name of a kind of failure.
pub(super) fn kind(key: &str) -> &str {
    match key {
        "closed-without-answer" => "closed-without-response",
        "answered-in-plain" => "plain-http-not-tls",
        "answered-in-tls" => "tls-not-plain-http",
        other => other,
    }
}

/// Does this to whatever is at the path.
fn at(value: &mut Value, path: &[&str], change: &mut impl FnMut(&mut Value)) {
    match path {
        [] => change(value),
        ["*", rest @ ..] => {
            for entry in value.as_array_mut().into_iter().flatten() {
                at(entry, rest, change);
            }
        }
        [name, rest @ ..] => {
            if let Some(inner) = value.get_mut(name) {
                at(inner, rest, change);
            }
        }
    }
}
