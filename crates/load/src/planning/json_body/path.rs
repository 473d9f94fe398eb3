//! The name of a word as steps from the body to the member: `a.b[0][]`.

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The member of this name.
    Name(String),
    /// The element of this number, from 0.
    Index(usize),
    /// The element behind the last.
    Next,
}

/// Elements before it are written, too.
const INDEX_MAX: usize = 100_000;

/// The names between points; a backslash takes its meaning from a point, a separator or a backslash.
///
/// # Errors
/// In words behind the name: that it is none.
pub fn names(path: &str) -> Result<Vec<Step>, String> {
    let mut reader = Reader { rest: path, escaped: ".:=\\" };
    let mut steps = vec![reader.name(".")?];
    while let Some(behind) = reader.rest.strip_prefix('.') {
        reader.rest = behind;
        steps.push(reader.name(".")?);
    }
    Ok(steps)
}

/// The same, where names stand in brackets, too. A backslash also takes its meaning from a bracket, and in brackets from
/// a digit.
///
/// # Errors
/// In words behind the name: what is wrong with it.
pub fn with_brackets(path: &str) -> Result<Vec<Step>, String> {
    let mut reader = Reader { rest: path, escaped: ".:=\\[]" };
    let mut steps = Vec::new();
    if !path.starts_with('[') {
        steps.push(reader.name(".[")?);
    }
    while let Some(next) = reader.rest.chars().next() {
        let behind = &reader.rest[next.len_utf8()..];
        match next {
            '.' => {
                reader.rest = behind;
                steps.push(reader.name(".[")?);
            }
            '[' => {
                reader.rest = behind;
                steps.push(reader.in_brackets()?);
            }
            _ => return Err(format!("has `{}` behind a `]`", reader.rest)),
        }
    }
    Ok(steps)
}

struct Reader<'a> {
    rest: &'a str,
    /// What a backslash takes the meaning from.
    escaped: &'static str,
}

impl Reader<'_> {
    /// Up to one of these letters, which stays.
    fn name(&mut self, ends: &str) -> Result<Step, String> {
        match self.text(ends) {
            name if name.is_empty() => Err("has an empty name".to_owned()),
            name => Ok(Step::Name(name)),
        }
    }

    fn in_brackets(&mut self) -> Result<Step, String> {
        let is_typed_number = self.rest.starts_with(|first: char| first.is_ascii_digit());
        if self.rest.starts_with('\\')
            && self.rest[1..].starts_with(|digit: char| digit.is_ascii_digit())
        {
            self.rest = &self.rest[1..];
        }
        let text = self.text("]");
        let Some(behind) = self.rest.strip_prefix(']') else {
            return Err("has a `[` without `]`".to_owned());
        };
        self.rest = behind;
        if text.is_empty() {
            return Ok(Step::Next);
        }
        if !is_typed_number || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Step::Name(text));
        }
        match text.parse() {
            Ok(index) if index <= INDEX_MAX => Ok(Step::Index(index)),
            _ => Err(format!("has an index above {INDEX_MAX}")),
        }
    }

    fn text(&mut self, ends: &str) -> String {
        let mut text = String::new();
        let mut letters = self.rest.char_indices().peekable();
        let mut end = self.rest.len();
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            if letter == '\\' && next.is_some_and(|next| self.escaped.contains(next)) {
                text.extend(next);
                letters.next();
            } else if ends.contains(letter) {
                end = at;
                break;
            } else {
                text.push(letter);
            }
        }
        self.rest = &self.rest[end..];
        text
    }
}
