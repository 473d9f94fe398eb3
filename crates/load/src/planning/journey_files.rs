//! The files beside a journey: what its requests send, and lines of variables.

use ablaze_journey::{Files, Journey};
use ablaze_model::printable::printable;
use ablaze_model::spec::{JourneySpec, UsersSpec};

use super::journey::read;
use super::sources;
use crate::Error;

/// The `name=value` lines of a file of variables, as Hurl has them: empty ones and those that begin with `#` left out.
///
/// # Errors
/// A line that is none.
pub fn variables_of_file(bytes: &[u8], name: &str) -> Result<Vec<(String, String)>, Error> {
    let mut variables = Vec::new();
    let text = sources::text(bytes)
        .map_err(|place| Error::usage(format!("file `{name}` for --variables-file, {place}")))?;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((variable, value)) = line.split_once('=') else {
            let line = index + 1;
            return Err(Error::usage(format!(
                "file `{name}` for --variables-file, line {line}: expected NAME=VALUE"
            )));
        };
        variables.push((variable.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(variables)
}

/// The files of a journey, read from beside it.
///
/// # Errors
/// One that cannot be read.
pub fn attach_files(spec: &mut JourneySpec) -> Result<(), Error> {
    let beside = std::path::Path::new(&spec.file.name).parent().unwrap_or(std::path::Path::new(""));
    let names = names_of_files(&read(spec)?);
    spec.files = names
        .into_iter()
        .map(|name| {
            let blob = sources::file(&beside.join(&name), "a request of --journey")?;
            Ok((name, blob))
        })
        .collect::<Result<_, Error>>()?;
    Ok(())
}

/// The names of the files that the steps send, each once.
pub fn names_of_files(journey: &Journey) -> Vec<String> {
    let mut names = Vec::new();
    for name in journey.steps.iter().flat_map(|step| step.files()).flatten() {
        let name = String::from_utf8_lossy(name).into_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The contents of the files that journeys and setup send.
///
/// # Errors
/// When the bytes of one are not here, or two have one name.
pub(super) fn files(asked: &JourneySpec, users: &UsersSpec) -> Result<Files, Error> {
    let mut files = Files::new();
    let all = std::iter::once(asked).chain(users.journeys()).flat_map(|journey| &journey.files);
    for (name, blob) in all {
        let before = files.insert(name.clone().into_bytes(), blob.bytes()?.into());
        if before.is_some_and(|before| files.get(name.as_bytes()) != Some(&before)) {
            let name = printable(name);
            return Err(Error::usage(format!(
                "two journeys send different files called `{name}`: give them different names"
            )));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_file_are_its_lines() {
        let read = |bytes: &[u8]| variables_of_file(bytes, "vars").map_err(|e| e.to_string());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let text = "\u{feff}a=1\r\n# no\n\nb = x=y \n";
        assert_eq!(read(text.as_bytes()).unwrap(), [pair("a", "1"), pair("b", "x=y")]);
        let refused = read(b"a=1\nb=\xff\n").unwrap_err();
        assert_eq!(refused, "file `vars` for --variables-file, line 2: expected UTF-8 text");
        let refused = read(b"a=1\nb\n").unwrap_err();
        assert_eq!(refused, "file `vars` for --variables-file, line 2: expected NAME=VALUE");
    }
}
