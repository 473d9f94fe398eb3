//! From a tree to a journey: names become slots, constant parts become bytes, regular expressions and paths are
//! compiled. What ablaze does not do is refused here, all of it at once, by name and line.

mod checks;
mod options;
mod request;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use ablaze_wire::printable::printable;

use crate::journey::{Journey, Needed, Step};
use crate::percent;
use crate::syntax::{At, Entry, HurlFile, Json, JsonPiece, Piece, Placeholder, Source};
use crate::template::{Encoding, Template};
use crate::variables::Names;

/// Something that a file asks for and that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// Its line.
    pub line: u32,
    /// What, as a sentence.
    pub what: String,
}

/// A file that is not run, with every reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileErrors {
    /// The name of the file.
    pub file: String,
    /// At least one, in order.
    pub errors: Vec<CompileError>,
}

impl fmt::Display for CompileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            let (file, what) = (printable(&self.file), printable(&error.what));
            write!(f, "{end}{file}:{}: {what}", error.line)?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileErrors {}

/// Compiles a file. `name` is its name for messages.
///
/// # Errors
/// Everything in it that is not supported.
pub fn compile(file: &HurlFile, name: &str) -> Result<Journey, CompileErrors> {
    compile_with(file, name, &Names::default(), &[])
}

/// Compiles a file whose variables stand beside those of others: it knows their names already, and finds those of `set`
/// with a value. Its journey knows all of them.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(
    file: &HurlFile,
    name: &str,
    names: &Names,
    set: &[usize],
) -> Result<Journey, CompileErrors> {
    let set = set.iter().copied().collect();
    let mut compiler = Compiler { names: names.clone(), set, ..Compiler::default() };
    let mut steps: Vec<Step> = file.entries.iter().map(|entry| compiler.step(entry)).collect();
    if !compiler.errors.is_empty() {
        compiler.errors.sort_by_key(|error| error.line);
        return Err(CompileErrors { file: name.to_owned(), errors: compiler.errors });
    }
    name_steps(&mut steps);
    let names = Arc::new(compiler.names);
    for step in &mut steps {
        step.names = Arc::clone(&names);
    }
    Ok(Journey { steps, names, needed: compiler.needed })
}

/// The second step of a name is `name#2`.
fn name_steps(steps: &mut [Step]) {
    let mut taken: HashSet<String> = HashSet::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for step in steps {
        let plain = step.name.clone();
        let count = counts.entry(plain.clone()).or_default();
        loop {
            *count += 1;
            if *count > 1 {
                step.name = format!("{plain}#{count}");
            }
            if taken.insert(step.name.clone()) {
                break;
            }
        }
    }
}

#[derive(Default)]
struct Compiler {
    names: Names,
    errors: Vec<CompileError>,
    /// What is set by the steps so far.
    set: HashSet<usize>,
    needed: Vec<Needed>,
}

impl Compiler {
    fn refuse(&mut self, at: At, what: impl Into<String>) {
        self.errors.push(CompileError { line: at.line, what: what.into() });
    }

    fn step(&mut self, entry: &Entry) -> Step {
        // In the order in which they happen: what is set first can be used.
        let options = self.options(&entry.request.options);
        let mut step = self.request(entry, options);
        if let Some(response) = &entry.response {
            step.captures = self.captures(&response.captures);
            step.expected = Some(self.expected(response));
            step.asserts = self.asserts(&response.asserts);
        }
        step
    }

    /// The slot of a variable that is used here.
    fn used(&mut self, name: &str, line: u32) -> usize {
        let slot = self.names.add(name);
        let is_known = self.set.contains(&slot) || self.needed.iter().any(|own| own.slot == slot);
        if !is_known {
            self.needed.push(Needed { slot, line });
        }
        slot
    }

    /// The slot of a variable that is set here.
    fn sets(&mut self, name: &str) -> usize {
        let slot = self.names.add(name);
        self.set.insert(slot);
        slot
    }

    fn template(&mut self, template: &crate::syntax::Template, encoding: Encoding) -> Template {
        let mut out = Template::default();
        for piece in &template.pieces {
            match piece {
                Piece::Placeholder(inner) => self.placeholder(inner, encoding, &mut out),
                Piece::Text(text) if encoding == Encoding::Percent => {
                    let mut encoded = Vec::new();
                    percent::encode(text.as_bytes(), &mut encoded);
                    out.push_bytes(&encoded);
                }
                Piece::Text(text) => out.push_bytes(text.as_bytes()),
            }
        }
        out
    }

    fn plain(&mut self, template: &crate::syntax::Template) -> Template {
        self.template(template, Encoding::Plain)
    }

    fn json(&mut self, json: &Json) -> Template {
        let mut out = Template::default();
        for piece in &json.pieces {
            match piece {
                JsonPiece::Text(text) => out.push_bytes(text.as_bytes()),
                JsonPiece::InString(inner) => {
                    self.placeholder(inner, Encoding::JsonString, &mut out);
                }
                JsonPiece::Value(inner) => self.placeholder(inner, Encoding::JsonValue, &mut out),
            }
        }
        out
    }

    fn placeholder(&mut self, placeholder: &Placeholder, encoding: Encoding, out: &mut Template) {
        let at = placeholder.at;
        if !placeholder.filters.is_empty() {
            self.refuse(
                at,
                "filters in {{…}} are not supported (fix: filter the value where it is captured)",
            );
        }
        match &placeholder.source {
            Source::Variable(name) => out.push_slot(self.used(name, at.line), encoding, at.line),
            Source::NewUuid | Source::NewDate if encoding == Encoding::JsonValue => {
                self.refuse(at, "newUuid and newDate are strings in JSON (fix: put \"{{…}}\" in quotation marks)");
            }
            Source::NewUuid => out.push_uuid(),
            Source::NewDate => out.push_date(encoding),
        }
    }

    /// Text without variables; otherwise `what` is refused.
    fn constant(&mut self, template: &crate::syntax::Template, what: &str) -> Option<String> {
        match template.pieces.as_slice() {
            [] => Some(String::new()),
            [Piece::Text(text)] => Some(text.clone()),
            _ => {
                self.refuse(template.at, format!("variables in {what} are not supported"));
                None
            }
        }
    }
}
