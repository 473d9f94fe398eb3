//! What a foreign command line asks for, in native words.

/// A load in native words.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The URL, as typed.
    pub url: String,
    /// Options of `ablaze load` that say the same.
    pub words: Vec<String>,
    /// What the tool does without a word, and `ablaze load` does not. `ablaze say` leaves it out.
    pub unsaid: Vec<String>,
    /// What of the line has no counterpart, or means something else here: a line each.
    pub notes: Vec<String>,
    /// What `ablaze` with the tool's name does, and `ablaze load` cannot: a line each.
    pub beyond_native: Vec<String>,
    /// The file of its requests, which the tool's front end reads itself and `ablaze load` takes as `--urls`.
    pub listed_in: Option<String>,
    /// The tool would follow redirects.
    pub follows_redirects: bool,
}

impl Asked {
    /// A load of this URL.
    pub fn of(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// An option with a value.
    pub fn option(&mut self, name: &str, value: impl ToString) {
        self.words.extend([name.to_owned(), value.to_string()]);
    }

    /// The same where there is a value.
    pub fn option_if(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.option(name, value);
        }
    }

    /// A switch, if it is on.
    pub fn switch(&mut self, name: &str, is_on: bool) {
        if is_on {
            self.words.push(name.to_owned());
        }
    }

    /// What the tool does without a word.
    pub fn unsaid(&mut self, name: &str, value: &str) {
        self.unsaid.push(name.to_owned());
        if !value.is_empty() {
            self.unsaid.push(value.to_owned());
        }
    }

    /// A field that the tool sends by itself, unless the words say it.
    pub fn unsaid_field(&mut self, line: &str) {
        let name = |line: &str| line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let mut pairs = self.words.windows(2).filter(|pair| pair[0] == "-H");
        if !pairs.any(|pair| name(&pair[1]) == name(line)) {
            self.unsaid("-H", line);
        }
    }

    /// What a person should know of it.
    pub fn note(&mut self, line: impl Into<String>) {
        self.notes.push(line.into());
    }

    /// All words, those of `native` last. What is unsaid gives way to an option of the same name among these.
    pub fn all_words(&self, native: &[String]) -> Vec<String> {
        let is_given = |option: &str| {
            native.iter().any(|word| word.split('=').next() == Some(option)) && option != "-H"
        };
        let mut all = self.words.clone();
        let mut unsaid = self.unsaid.iter().peekable();
        while let Some(word) = unsaid.next() {
            let value = unsaid.next_if(|value| !value.starts_with('-'));
            if !is_given(word) {
                all.push(word.clone());
                all.extend(value.cloned());
            }
        }
        all.extend(native.iter().cloned());
        all
    }
}

/// The last of the lines `Name: value` of each name, in the order of their first.
pub fn last_of_each<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in lines {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        match fields.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => line.clone_into(own),
            None => fields.push((name, line.to_owned())),
        }
    }
    fields.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_goes_before_what_is_unsaid() {
        let mut asked = Asked::of(":80");
        asked.option("-H", "accept: a");
        asked.unsaid_field("Accept: */*");
        asked.unsaid_field("X: 1");
        asked.unsaid("--timeout", "20s");
        asked.unsaid("--insecure", "");
        assert_eq!(asked.all_words(&[]).join(" "), "-H accept: a -H X: 1 --timeout 20s --insecure");
        let native = ["--timeout=1s".to_owned()];
        assert_eq!(
            asked.all_words(&native).join(" "),
            "-H accept: a -H X: 1 --insecure --timeout=1s"
        );
    }

    #[test]
    fn the_last_field_of_a_name_counts() {
        let lines = last_of_each(["A: 1", "B: 2", "a: 3"].into_iter());
        assert_eq!(lines, ["a: 3", "B: 2"]);
    }
}
