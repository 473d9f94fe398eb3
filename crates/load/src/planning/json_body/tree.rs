//! The body while words are added to it.

use std::fmt;

use super::path::Step;

/// A value.
#[derive(Debug)]
pub enum Node {
    /// What it will be follows.
    Open,
    /// JSON as it is to be written.
    Json(String),
    /// An object whose members are known.
    Object(Vec<(String, Node)>),
    /// An array whose elements are known.
    Array(Vec<Node>),
}

/// Puts a value where the steps lead; `shown` is what `node` is called in the error.
///
/// # Errors
/// In words: something on the way is another kind of value.
pub fn insert(node: &mut Node, shown: &str, path: &[Step], value: Node) -> Result<(), String> {
    let Some((step, inner)) = path.split_first() else {
        *node = value;
        return Ok(());
    };
    node.become_container(step);
    match (node, step) {
        (Node::Object(members), Step::Name(name)) => {
            let place = match members.iter().position(|(own, _)| own == name) {
                Some(place) => place,
                None => {
                    members.push((name.clone(), Node::Open));
                    members.len() - 1
                }
            };
            insert(&mut members[place].1, &format!("`{name}`"), inner, value)
        }
        (Node::Array(elements), Step::Index(_) | Step::Next) => {
            let index = match step {
                Step::Index(index) => *index,
                _ => elements.len(),
            };
            while elements.len() <= index {
                elements.push(Node::Open);
            }
            insert(&mut elements[index], &format!("element {index}"), inner, value)
        }
        (node, step) => {
            let takes = match step {
                Step::Name(name) => format!("member `{name}`"),
                Step::Index(_) | Step::Next => "element".to_owned(),
            };
            Err(format!("{shown} is {} already and takes no {takes}", node.shown()))
        }
    }
}

impl Node {
    /// What is open, or empty, becomes what the step leads into.
    fn become_container(&mut self, step: &Step) {
        let is_member = matches!(step, Step::Name(_));
        let is_empty = match self {
            Self::Open => true,
            Self::Json(json) if is_member => is_empty(json, '{', '}'),
            Self::Json(json) => is_empty(json, '[', ']'),
            Self::Object(_) | Self::Array(_) => false,
        };
        match (is_empty, is_member) {
            (false, _) => {}
            (true, true) => *self = Self::Object(Vec::new()),
            (true, false) => *self = Self::Array(Vec::new()),
        }
    }

    fn shown(&self) -> &str {
        match self {
            Self::Open => "null",
            Self::Json(json) => json,
            Self::Object(_) => "an object",
            Self::Array(_) => "an array",
        }
    }
}

fn is_empty(json: &str, open: char, close: char) -> bool {
    let inside = json.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

impl fmt::Display for Node {
    /// As JSON, without blanks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("null"),
            Self::Json(json) => f.write_str(json),
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (name, node)) in members.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{}:{node}", quoted(name))?;
                }
                f.write_str("}")
            }
            Self::Array(elements) => {
                f.write_str("[")?;
                for (at, node) in elements.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{node}")?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
