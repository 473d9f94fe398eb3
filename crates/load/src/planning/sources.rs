//! Files that say what is sent: bodies, lists, lines that are bodies. Each is read once, before the run.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ablaze_model::spec::{Blob, Feed};
use ablaze_report::system_error::reason;
use ablaze_wire::url::Url;

use crate::Error;

/// A device may never end, nor may a pipe.
const STREAM_BYTES_MAX: u64 = 1 << 28;

/// A whole file; `what` it is for is part of the error.
///
/// # Errors
/// When it cannot be read.
pub fn file(path: &Path, what: &str) -> Result<Blob, Error> {
    Ok(Blob::new(path.display().to_string(), read(path, what)?))
}

/// The bytes of a file; `what` it is for is part of the error.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path, what: &str) -> Result<Vec<u8>, Error> {
    let (bytes, changed) = read_watching(path, || {}).map_err(|error| {
        let fix = match error.kind() {
            std::io::ErrorKind::NotFound => "check its name",
            std::io::ErrorKind::PermissionDenied => "make it readable",
            _ => "use another file",
        };
        let reason = reason(&error);
        Error::usage(format!("cannot read file `{}` for {what}: {reason}; {fix}", path.display()))
    })?;
    match changed {
        false => Ok(bytes),
        true => Err(Error::usage(format!(
            "file `{}` for {what} changed while it was read: use one that nobody writes to",
            path.display()
        ))),
    }
}

/// A file's bytes as text, without the mark that editors of Windows begin files with.
///
/// # Errors
/// When they are none: where the first is that is not.
pub fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: expected UTF-8 text")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The bytes of a file, and whether it was written to meanwhile. `read` is called when it has been read.
fn read_watching(path: &Path, read: impl FnOnce()) -> std::io::Result<(Vec<u8>, bool)> {
    let mut file = File::open(path)?;
    let before = file.metadata()?;
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    if before.is_file() {
        file.read_to_end(&mut bytes)?;
    } else {
        Read::by_ref(&mut file).take(STREAM_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > STREAM_BYTES_MAX {
            return Err(std::io::Error::other(
                "it is a device or a pipe and gives more than 256 MiB",
            ));
        }
    }
    read();
    let after = file.metadata()?;
    // A pipe has neither length nor age.
    let is_same = before.len() == after.len() && before.modified().ok() == after.modified().ok();
    Ok((bytes, before.is_file() && !is_same))
}

/// The lines of a file as bodies, without their line ends. A last line end begins no line.
///
/// # Errors
/// When its bytes are not here, or it has no line.
pub fn body_lines(feed: &Feed) -> Result<Vec<Vec<u8>>, Error> {
    let text = feed.file.bytes()?;
    if text.is_empty() {
        return Err(Error::usage(format!(
            "file `{}` for --body-lines is empty: write one body on each line",
            feed.file.name
        )));
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()).collect();
    taken(feed, lines)
}

/// The part of a list that is meant.
pub(super) fn taken<T>(feed: &Feed, entries: Vec<T>) -> Result<Vec<T>, Error> {
    let taken = feed.taken(entries);
    if taken.is_empty() {
        return Err(Error::usage(format!(
            "file `{}` has fewer entries than machines that share it: add entries",
            feed.file.name
        )));
    }
    Ok(taken)
}

/// A URL.
///
/// # Errors
/// When it cannot be read.
pub fn url(text: &str) -> Result<Url, Error> {
    Url::parse(text).map_err(|error| Error::usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::spec::requests::Part;

    fn feed(text: &str) -> Feed {
        Feed::of(Blob::new("list", text.as_bytes().to_vec()))
    }

    #[test]
    fn a_file_that_is_written_to_meanwhile_is_noticed() {
        let path = std::env::temp_dir().join(format!("ablaze-source-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let same = read_watching(&path, || {}).unwrap();
        let grown = read_watching(&path, || std::fs::write(&path, "one and more").unwrap());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(same, (b"one".to_vec(), false));
        assert!(grown.unwrap().1);
        // They say that they have no bytes, and have some.
        let kernels = read_watching(Path::new("/proc/self/stat"), || {}).unwrap();
        assert!(!kernels.0.is_empty() && !kernels.1);
    }

    #[test]
    fn what_never_ends_is_refused() {
        let error = read(Path::new("/dev/zero"), "--cookie").unwrap_err().to_string();
        assert!(error.contains("more than 256 MiB"), "{error}");
    }

    #[test]
    fn body_lines_are_the_lines() {
        let all = feed("a\r\n\nb{}\nc");
        assert_eq!(body_lines(&all).unwrap(), [&b"a"[..], b"", b"b{}", b"c"]);
        let part = |index, of| Feed { part: Some(Part { index, of }), ..all.clone() };
        assert_eq!(body_lines(&part(1, 3)).unwrap(), [&b""[..]]);
        assert!(body_lines(&part(4, 5)).unwrap_err().to_string().contains("fewer entries"));
        assert!(body_lines(&feed("")).is_err());
    }
}
