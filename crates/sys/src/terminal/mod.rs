//! The terminal, if there is one: its size, and the whole of it as a screen to draw on.

mod quit;
mod screen;

use std::os::fd::AsFd;

pub use screen::{Screen, leave_screen};

/// How much room a terminal has, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// Columns of the terminal behind this descriptor; `None` when it is no terminal or does not
/// know.
pub fn width(descriptor: impl AsFd) -> Option<usize> {
    size(descriptor).map(|size| size.columns)
}

/// The size of the terminal behind this descriptor; `None` when it is no terminal or does not know.
pub fn size(descriptor: impl AsFd) -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(descriptor).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0).then_some(Size { columns, rows })
}

/// Whether the terminal behind this descriptor is the one that this process was started from, and this process is in its
/// foreground: whoever is not must neither change its settings nor read its keys (it would be stopped by SIGTTOU or SIGTTIN).
pub fn is_in_foreground(descriptor: impl AsFd) -> bool {
    let group = rustix::termios::tcgetpgrp(descriptor);
    group.is_ok_and(|group| group == rustix::process::getpgrp())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_has_no_size_and_no_foreground() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(super::width(&file), None);
        assert!(!super::is_in_foreground(&file));
    }
}
