//! Axes as they were written: a name and its values, before anybody knows where they go.

use crate::CommandError;

/// A name and the values that it is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The name: `threads`, `env:GOMAXPROCS`.
    pub name: String,
    /// Its values, in their order.
    pub values: Vec<String>,
    /// What a person wrote, for errors: `--vary threads`, `-c`.
    pub said: String,
}

impl Wanted {
    /// A name with its values.
    ///
    /// # Errors
    /// When there is none, or one of them twice.
    pub fn new(name: &str, values: Vec<String>, said: &str) -> Result<Self, CommandError> {
        if values.is_empty() {
            return Err(CommandError::usage(format!(
                "{said} has no value: give a list, such as 1,2,4"
            )));
        }
        let before = |at: usize| &values[..at];
        let twice = values.iter().enumerate().find(|(at, value)| before(*at).contains(value));
        if let Some((_, twice)) = twice {
            return Err(CommandError::usage(format!(
                "{said}: `{twice}` is given twice: remove one, and use --repeat for more runs of each"
            )));
        }
        Ok(Self { name: name.to_owned(), values, said: said.to_owned() })
    }

    /// The words of one `--vary`: `threads=1,2,4`.
    ///
    /// # Errors
    /// When it is no name with a list.
    pub fn read(text: &str) -> Result<Self, CommandError> {
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        let name = name.trim().trim_start_matches('-');
        if name.is_empty() {
            return Err(CommandError::usage(format!(
                "--vary {text}: expected NAME=VALUE,VALUE…, such as threads=1,2,4"
            )));
        }
        let list = text.split_once('=').map_or("", |(_, list)| list);
        Self::new(name, pieces(list), &format!("--vary {name}"))
    }
}

/// The lists among the options of a load, which are taken out of its words, and those of `--vary`.
///
/// # Errors
/// When one has no value, or one of them twice.
pub fn of_words(words: &mut Vec<String>, vary: &[String]) -> Result<Vec<Wanted>, CommandError> {
    let mut wanted = Vec::new();
    for (option, said) in [("--connections", "-c"), ("--rate", "--rates")] {
        let Some(at) = words.iter().position(|word| word == option) else { continue };
        let values = pieces(&words[at + 1]);
        // A single value stays among the words, unless nothing else is varied.
        if values.len() != 1 || (vary.is_empty() && wanted.is_empty()) {
            words.drain(at..at + 2);
            wanted.push(Wanted::new(option.trim_start_matches('-'), values, said)?);
        }
    }
    // One value of the one, several of the other: the second is what is swept over.
    if let [first, second] = &wanted[..]
        && first.values.len() == 1
        && second.values.len() > 1
    {
        words.extend([format!("--{}", first.name), first.values[0].clone()]);
        wanted.remove(0);
    }
    for text in vary {
        wanted.push(Wanted::read(text)?);
    }
    Ok(wanted)
}

fn pieces(list: &str) -> Vec<String> {
    let piece = |piece: &str| piece.trim().to_owned();
    list.split(',').map(piece).filter(|piece| !piece.is_empty()).collect()
}
