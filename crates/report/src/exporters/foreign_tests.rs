//! A saved run of which every string is hostile, in every format.

use ablaze_model::printable::{self, is_hostile};
use serde_json::Value;

use super::*;
use crate::sample::{self, assessed};
use crate::text::{self, Style};
use crate::{ab, gurl, h2load, hey, json, oha};

/// Every string of a saved run that may be anything gets these behind it.
const HOSTILE: &str =
    "\u{1b}[2J\u{9b}1m\u{7f}\n\u{202e}\u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}\u{7}\r";

/// The paths of all strings, as JSON pointers.
fn strings(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                strings(value, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                strings(value, &format!("{path}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// The saved run with every string changed that is not one of a fixed set, and how many those are.
fn hostile(run: &ablaze_model::Run) -> (String, usize) {
    let mut document: Value = serde_json::from_str(&json::write(&assessed(run))).unwrap();
    let mut paths = Vec::new();
    strings(&document, "", &mut paths);
    paths.retain(|path| !path.contains("histogram") && !path.ends_with("/buckets"));
    let mut changed = 0;
    for path in paths {
        let string = document.pointer_mut(&path).unwrap();
        let before = string.clone();
        *string = Value::String(format!("{}{HOSTILE}", before.as_str().unwrap()));
        if json::load(&document.to_string()).is_ok() {
            changed += 1;
        } else {
            *document.pointer_mut(&path).unwrap() = before;
        }
    }
    (document.to_string(), changed)
}

fn assert_fit(what: &str, text: &str) {
    // Lines of CSV end in both.
    let text = text.replace("\r\n", "\n");
    let found = text.chars().find(|c| is_hostile(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(found, None, "{what}: {text}");
}

#[test]
fn no_format_passes_on_what_commands_a_terminal() {
    let mut whole = sample::troubled();
    whole.profiling = Some(sample::profiling::profiling());
    let runs = [
        whole,
        sample::encrypted(),
        sample::over_http2(),
        sample::grouped(),
        sample::checked(),
        sample::refused(),
    ];
    let mut changed = 0;
    for run in &runs {
        let (text, strings) = hostile(run);
        changed += strings;
        let run = json::load(&text).unwrap().run;
        let assessed = assessed(&run);
        let conditions = Conditions::default();
        let what = Exported::Run { assessed: &assessed, explain: true, conditions: &conditions };
        for exporter in all().iter().filter(|exporter| exporter.fits(Kind::Run)) {
            let export = exporter.export(&what, "stem").unwrap();
            assert_fit(exporter.extensions()[0], &export.text);
            export.beside.iter().for_each(|(name, text)| assert_fit(name, text));
        }
        for width in [60, 110] {
            let style = Style { width, explain: true, ..Style::default() };
            assert_fit("terminal", &text::write(&assessed, &style));
        }
        assert_fit("gurl", &gurl::write(&run));
        assert_fit("hey", &hey::write(&run));
        assert_fit("h2load", &h2load::write(&run));
        assert_fit("oha", &oha::text(&run, None, false));
        assert_fit("oha", &oha::json(&run, false));
        let page = crate::page::of_runs(&[("a".to_owned(), assessed.clone())], &[]);
        assert_fit("page", &printable::report(&page.html()));
        let mut printed = Vec::new();
        ab::report(&run, &ab::Layout::default(), &mut printed).unwrap();
        assert_fit("ab", &String::from_utf8(printed).unwrap());
    }
    // Names of processes and symbols, certificates, groups, settings, command lines.
    assert!(changed > 100, "{changed}");
}
