//! The words of a command line once they are told apart.

/// What a command line says, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The tool's options by name, with their values; a switch has `true` or `false`.
    pub own: Vec<(&'static str, String)>,
    /// The words of native options, as typed.
    pub native: Vec<String>,
    /// What is no option: the URL, and what stands beside it.
    pub operands: Vec<String>,
}

impl Words {
    /// The value that counts of an option: the last.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.own.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }

    /// Every value of an option that can be given several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.own.iter().filter(move |(own, _)| *own == name).map(|(_, value)| value.as_str())
    }

    /// Whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.last(name) == Some("true")
    }

    /// The number behind an option.
    ///
    /// # Errors
    /// When what stands there is none.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let dash = if name.len() == 1 { "-" } else { "--" };
        let read = |text: &str| {
            text.parse().map_err(|_| format!("{dash}{name} {text}: expected a number"))
        };
        self.last(name).map(read).transpose()
    }
}
