//! `-b`: a body as text, from a file or from standard input.

use std::io::Read;
use std::path::Path;

use ablaze_load::planning::sources;
use ablaze_model::spec::{Blob, Body};

use crate::CommandError;

/// A body as given to `-b`: text, `@FILE`, or `@-` for standard input.
///
/// # Errors
/// When the file cannot be read.
pub fn body(given: &str) -> Result<Body, CommandError> {
    match given.strip_prefix('@') {
        None => Ok(Body::Given(given.into())),
        Some("-") => Ok(Body::File(Blob::new("-", standard_input("the body")?))),
        Some(path) => Ok(Body::File(sources::file(Path::new(path), "the body")?)),
    }
}

/// All of standard input; `what` it is for is part of the error.
///
/// # Errors
/// When it cannot be read.
pub fn standard_input(what: &str) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| {
        CommandError::usage(format!("cannot read standard input for {what}: {error}"))
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_from_text_and_files() {
        assert_eq!(body("a=b").unwrap(), Body::Given("a=b".into()));
        let path = std::env::temp_dir().join(format!("ablaze-body-{}", std::process::id()));
        std::fs::write(&path, "from a file").unwrap();
        let read = body(&format!("@{}", path.display()));
        std::fs::remove_file(&path).unwrap();
        let Body::File(file) = read.unwrap() else { panic!("no file") };
        assert_eq!(file.bytes().unwrap(), b"from a file");
        let error = body("@/no/such/file").unwrap_err();
        assert!(error.line.contains("`/no/such/file`") && error.line.contains("check its name"));
    }
}
