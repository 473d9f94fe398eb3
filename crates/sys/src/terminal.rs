//! The terminal, if there is one.

use std::os::fd::AsFd;

/// Columns of the terminal behind this descriptor; `None` when it is no terminal or does not
/// know.
pub fn width(descriptor: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(descriptor).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_has_no_width() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(super::width(file), None);
    }
}
