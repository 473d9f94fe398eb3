//! What a report says of itself.

use serde_json::Value;

/// Diagnoses of a machine on which others are at work as well. They are honest where the tests
/// share a machine, so that they may stand beside the one that was forced.
const OF_OTHERS: [&str; 2] = ["D13", "D23"];

/// A report of `--json`.
pub struct Report(Value);

impl Report {
    pub fn new(json: Value) -> Self {
        let report = Self(json);
        println!("{}", report.in_short());
        report
    }

    /// A number by its path, such as `/failed/total`.
    pub fn number(&self, pointer: &str) -> f64 {
        self.known(pointer).unwrap_or_else(|| panic!("no number at {pointer}"))
    }

    /// The same of a number that need not be there.
    pub fn known(&self, pointer: &str) -> Option<f64> {
        self.0.pointer(pointer)?.as_f64()
    }

    /// A field of all members of an array, added up.
    pub fn sum(&self, pointer: &str, key: &str) -> f64 {
        let members = self.0.pointer(pointer).and_then(Value::as_array);
        let members = members.unwrap_or_else(|| panic!("no array {pointer}")).iter();
        members.map(|member| member[key].as_f64().unwrap()).sum()
    }

    pub fn verdict(&self) -> &str {
        self.0["verdict"]["verdict"].as_str().unwrap()
    }

    pub fn limited_by(&self) -> &str {
        self.0["verdict"]["limited_by"].as_str().unwrap()
    }

    pub fn findings(&self) -> &[Value] {
        self.0["verdict"]["findings"].as_array().unwrap()
    }

    pub fn found(&self, id: &str) -> Option<&Value> {
        self.findings().iter().find(|finding| finding["id"] == id)
    }

    /// Root findings above a note.
    pub fn grave(&self) -> impl Iterator<Item = &str> {
        let findings = self.findings().iter();
        findings
            .filter(|finding| finding["explained_by"].is_null() && finding["severity"] != "note")
            .map(|finding| finding["id"].as_str().unwrap())
    }

    /// The forced fault is the first root finding, as grave as this; returns its evidence.
    pub fn assert_root(&self, id: &str, severity: &str) -> &str {
        let found = self.found(id).unwrap_or_else(|| panic!("no {id}: {}", self.in_short()));
        assert!(found["explained_by"].is_null(), "{id} is no root: {}", self.in_short());
        assert_eq!(found["severity"], severity, "{}", self.in_short());
        let first = self.grave().find(|other| *other == id || !OF_OTHERS.contains(other));
        if severity == "note" {
            assert_eq!(first, None, "{}", self.in_short());
        } else {
            assert_eq!(first, Some(id), "{}", self.in_short());
            assert_ne!(self.verdict(), "VALID", "{}", self.in_short());
        }
        if severity == "invalid" {
            assert_eq!(self.verdict(), "INVALID", "{}", self.in_short());
        }
        found["evidence"].as_str().unwrap()
    }

    /// What this finding is said to explain.
    pub fn assert_explained(&self, id: &str, by: &str) {
        let found = self.found(id).unwrap_or_else(|| panic!("no {id}: {}", self.in_short()));
        assert_eq!(found["explained_by"], by, "{}", self.in_short());
    }

    /// Verdict, limit and findings, a line each.
    pub fn in_short(&self) -> String {
        let mut text = format!("{} limited by {}", self.verdict(), self.limited_by());
        for finding in self.findings() {
            let (id, severity) = (&finding["id"], &finding["severity"]);
            text += &format!("\n  {id} {severity} {}", finding["evidence"]);
            if !finding["explained_by"].is_null() {
                text += &format!(" ({} explains it)", finding["explained_by"]);
            }
        }
        text
    }
}
