//! Command lines as reports show them. Reports are mailed and committed, so what is a secret
//! in it is not shown: passwords of `-u`, `-A`, `-P` and of URLs, and the values of the header fields that
//! carry credentials.

use std::borrow::Cow;

use ablaze_model::spec::is_secret_field;

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// The words of a command line, the program first, without passwords and credentials.
pub fn without_secrets(words: Vec<String>) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for word in words {
        let front_end = FrontEnd::of(&shown);
        let secret = shown.last().and_then(|option| front_end.secret_of(option));
        shown.push(match secret {
            Some(secret) => secret.hidden(&word),
            None => in_one_word(front_end, &word),
        });
    }
    shown
}

/// A URL without the password in it.
pub fn url_without_secrets(url: &str) -> String {
    Secret::InUrl.hidden(url)
}

/// A message without the passwords of URLs in it, also of those that could not be read: an error shows what was typed.
pub fn message_without_secrets(message: &str) -> Cow<'_, str> {
    if !message.contains('@') {
        return Cow::Borrowed(message);
    }
    Cow::Owned(message.split_inclusive(char::is_whitespace).map(word_without_secrets).collect())
}

fn word_without_secrets(word: &str) -> String {
    let (word, space) = word.split_at(word.trim_end().len());
    shown_word(word) + space
}

/// What messages say where a name and a password belong.
const PLACEHOLDER: &str = "user:password@";

fn shown_word(word: &str) -> String {
    if word.contains(PLACEHOLDER) {
        return word.to_owned();
    }
    let shown = Secret::InUrl.hidden(word);
    if shown != word {
        return shown;
    }
    // A `/` or `?` in a password ends the authority too early: the port is no number then.
    let typed = || {
        let start = word.find("://")? + 3;
        let (who, host) = word[start..].rsplit_once('@')?;
        let (name, password) = who.split_once(':')?;
        let port = password.split(['/', '?', '#']).next()?;
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        (!is_port).then(|| format!("{}{name}:{HIDDEN}@{host}", &word[..start]))
    };
    typed().unwrap_or(shown)
}

/// An option with its value in one word, a URL, or anything else.
fn in_one_word(front_end: FrontEnd, word: &str) -> String {
    let dash = if matches!(front_end, FrontEnd::Vegeta) { "-" } else { "--" };
    if let Some((option, value)) = word.split_once('=').filter(|_| word.starts_with(dash)) {
        let secret = front_end.secret_of(option).unwrap_or(Secret::InUrl);
        return format!("{option}={}", secret.hidden(value));
    }
    let short = word.split_at_checked(2).filter(|(_, value)| !value.is_empty());
    match short.and_then(|(option, value)| Some((front_end.secret_of(option)?, option, value))) {
        Some((secret, option, value)) => format!("{option}{}", secret.hidden(value)),
        None => Secret::InUrl.hidden(word),
    }
}

/// Whose options the words are.
#[derive(Debug, Clone, Copy)]
enum FrontEnd {
    Native,
    Ab,
    Gurl,
    Wrk,
    Hey,
    H2load,
    Oha,
    Vegeta,
}

impl FrontEnd {
    /// By the words before: the program's name and the first argument.
    fn of(before: &[String]) -> Self {
        let is = |name: &str| {
            before.first().is_some_and(|program| program.rsplit('/').next() == Some(name))
                || before.get(1).is_some_and(|command| command == name)
        };
        match () {
            () if is("ab") => Self::Ab,
            () if is("gurl") => Self::Gurl,
            () if is("wrk") => Self::Wrk,
            () if is("hey") => Self::Hey,
            () if is("h2load") => Self::H2load,
            () if is("oha") => Self::Oha,
            () if is("vegeta") => Self::Vegeta,
            () => Self::Native,
        }
    }

    /// What is secret in the value of this option.
    fn secret_of(self, option: &str) -> Option<Secret> {
        match (self, self.last_of_several(option)) {
            (_, "-H" | "--header") => Some(Secret::OfField),
            (Self::Vegeta, "-header") => Some(Secret::OfField),
            (_, "--secret") => Some(Secret::OfVariable),
            (_, "--cookie") => Some(Secret::OfCookie),
            (_, "--proxy") => Some(Secret::InUrl),
            (Self::Native, "-u" | "--user") | (Self::Ab, "-A" | "-P") => Some(Secret::Password),
            (Self::Hey | Self::H2load | Self::Oha, "-user" | "--user") => Some(Secret::Password),
            (Self::Hey | Self::Oha, "-a" | "--a") => Some(Secret::Password),
            (Self::Hey | Self::Oha, "-x" | "--x") => Some(Secret::InUrl),
            (Self::Ab, "-C") => Some(Secret::All),
            _ => None,
        }
    }

    /// `-A` of `-kA`: ab's options without a value can stand before one with a value.
    fn last_of_several(self, option: &str) -> &str {
        let bare = option.trim_start_matches(['-', 'k', 'i', 'r', 'l', 'd', 'S', 'q']);
        match (self, bare) {
            (Self::Ab, "A") => "-A",
            (Self::Ab, "P") => "-P",
            (Self::Ab, "C") => "-C",
            (Self::Ab, "H") => "-H",
            _ => option,
        }
    }
}

/// A line of a head as it was typed; of a field with credentials, its name. The colon may have been forgotten.
pub fn field_without_secret(typed: &str) -> Cow<'_, str> {
    let end = typed.find(|c: char| c == ':' || c.is_whitespace()).unwrap_or(typed.len());
    match end < typed.len() && is_secret_field(&typed[..end]) {
        true => format!("{}: {HIDDEN}", &typed[..end]).into(),
        false => typed.into(),
    }
}

/// Which part of an option's value is secret.
#[derive(Debug, Clone, Copy)]
enum Secret {
    /// Behind the name: `name:password`.
    Password,
    /// Behind the name of a field, if it carries credentials: `Authorization: …`.
    OfField,
    /// Between the name and the host: `http://name:password@host/`, `name:password@host:port`.
    InUrl,
    All,
    /// Behind the name: `name=value`.
    OfVariable,
    /// All of it, unless it is a file: `a=b; c=d`.
    OfCookie,
}

impl Secret {
    fn hidden(self, value: &str) -> String {
        match self {
            Self::All => HIDDEN.to_owned(),
            Self::OfCookie if !value.contains('=') => value.to_owned(),
            Self::OfCookie => HIDDEN.to_owned(),
            Self::OfVariable => match value.split_once('=') {
                Some((name, _)) => format!("{name}={HIDDEN}"),
                None => HIDDEN.to_owned(),
            },
            Self::Password => match value.split_once(':') {
                Some((name, _)) => format!("{name}:{HIDDEN}"),
                None => value.to_owned(),
            },
            Self::OfField => field_without_secret(value).into_owned(),
            Self::InUrl => {
                let start = value.find("://").map_or(0, |at| at + 3);
                let end = value[start..].find(['/', '?', '#']).map_or(value.len(), |at| start + at);
                let authority = &value[start..end];
                // RFC 3986, 3.2: what cannot be in an authority is no URL's.
                if authority.contains(['"', '{', '}', '<', '>', ' ']) {
                    return value.to_owned();
                }
                match authority
                    .rsplit_once('@')
                    .and_then(|(who, host)| Some((who.split_once(':')?.0, host)))
                {
                    Some((name, host)) => {
                        format!("{}{name}:{HIDDEN}@{host}{}", &value[..start], &value[end..])
                    }
                    None => value.to_owned(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        without_secrets(line.split('|').map(str::to_owned).collect()).join("|")
    }

    #[test]
    fn messages_do_not_repeat_passwords() {
        let table = [
            ("--proxy `http://me:pass@h!:x`: port", "--proxy `http://me:***@h!:x`: port"),
            (
                "the URL is `me:pass@h/`, remove `a:b@c/`",
                "the URL is `me:***@h/`, remove `a:***@c/`",
            ),
            ("`http://me:pa/s?s@h:1/x`: bad", "`http://me:***@h:1/x`: bad"),
            ("`http://h:80/a@b`: no\nsuch path", "`http://h:80/a@b`: no\nsuch path"),
            ("--proxy `me:pass@`: no host", "--proxy `me:***@`: no host"),
            ("-b @file: no such file", "-b @file: no such file"),
            ("use --proxy http://user:password@h:1", "use --proxy http://user:password@h:1"),
        ];
        for (message, expected) in table {
            assert_eq!(message_without_secrets(message), expected);
        }
    }

    #[test]
    fn secrets_are_not_shown_and_nothing_else_is_changed() {
        let table = [
            ("ablaze|-u|me:pass:word|http://h/", "ablaze|-u|me:***|http://h/"),
            ("ablaze|load|--user=me:pass|http://h/", "ablaze|load|--user=me:***|http://h/"),
            ("ablaze|-ume:pass|http://h/", "ablaze|-ume:***|http://h/"),
            ("ablaze|--user|me|:80", "ablaze|--user|me|:80"),
            ("ablaze|http://me:pa@ss@h:80/a@b:c", "ablaze|http://me:***@h:80/a@b:c"),
            ("ablaze|--proxy|me:pass@h:3128|http://h/", "ablaze|--proxy|me:***@h:3128|http://h/"),
            ("ablaze|--proxy=http://me:pass@h:1|h", "ablaze|--proxy=http://me:***@h:1|h"),
            ("ablaze|-H|authorization: Bearer x:y|h", "ablaze|-H|authorization: ***|h"),
            (
                "ablaze|-H|X-Api-Key: a|-H|X-Auth-Token:b|h",
                "ablaze|-H|X-Api-Key: ***|-H|X-Auth-Token: ***|h",
            ),
            ("ablaze|-HCookie:a=b|-H|X: a:b|h", "ablaze|-HCookie: ***|-H|X: a:b|h"),
            ("ablaze|ab|-A|me:pass|-P|me:pass|h/", "ablaze|ab|-A|me:***|-P|me:***|h/"),
            ("/bin/ab|-C|a=b|-u|a:b|h/", "/bin/ab|-C|***|-u|a:b|h/"),
            ("ab|-kA|me:pass|-lkC|a=b|h/", "ab|-kA|me:***|-lkC|***|h/"),
            ("ablaze|gurl|-A|rv:109|h", "ablaze|gurl|-A|rv:109|h"),
            (
                "ablaze|hey|-a|me:pass|-x|a:b@h:1|-H|Cookie: a|h",
                "ablaze|hey|-a|me:***|-x|a:***@h:1|-H|Cookie: ***|h",
            ),
            ("ablaze|hey|-a=me:pass|h", "ablaze|hey|-a=me:***|h"),
            (
                "ablaze|vegeta|attack|-header=Cookie: a|-header|Authorization: b",
                "ablaze|vegeta|attack|-header=Cookie: ***|-header|Authorization: ***",
            ),
            ("ablaze|wrk|-H|Cookie: a|--|-u|a:b", "ablaze|wrk|-H|Cookie: ***|--|-u|a:b"),
            ("ablaze|-b|{\"a\":\"b@c:d\"}|h", "ablaze|-b|{\"a\":\"b@c:d\"}|h"),
            (
                "ablaze|-c|10|--sni=none|http://[::1]:80/",
                "ablaze|-c|10|--sni=none|http://[::1]:80/",
            ),
        ];
        for (line, expected) in table {
            assert_eq!(shown(line), expected);
        }
    }
}
