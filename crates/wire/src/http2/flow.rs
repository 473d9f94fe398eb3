//! Flow control of what we receive (RFC 9113, 5.2 and 6.9).

/// A window that is given back in few large pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveWindow {
    /// What the peer may still send.
    left: u32,
    /// What it has sent since the last update.
    used: u32,
    /// `used` is given back when it reaches this.
    update_at: u32,
}

/// The peer sent more than the window permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded;

impl ReceiveWindow {
    /// A window of this many bytes.
    pub fn new(bytes: u32) -> Self {
        Self { left: bytes, used: 0, update_at: (bytes / 2).max(1) }
    }

    /// The peer sent a frame of this many bytes, padding included.
    ///
    /// # Errors
    /// When that is more than the window permits.
    #[inline(always)]
    pub fn take(&mut self, bytes: u32) -> Result<(), Exceeded> {
        let Some(left) = self.left.checked_sub(bytes) else { return Err(Exceeded) };
        self.left = left;
        self.used += bytes;
        Ok(())
    }

    /// What is to be given back now: half of the window or more, or nothing.
    #[inline(always)]
    pub fn update(&mut self) -> Option<u32> {
        if self.used < self.update_at {
            return None;
        }
        let increment = self.used;
        self.left += increment;
        self.used = 0;
        Some(increment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_window_is_given_back_at_once() {
        let mut window = ReceiveWindow::new(10);
        assert_eq!(window.take(4), Ok(()));
        assert_eq!(window.update(), None);
        assert_eq!(window.take(2), Ok(()));
        assert_eq!(window.update(), Some(6));
        assert_eq!(window.take(10), Ok(()));
        assert_eq!(window.take(1), Err(Exceeded));
        assert_eq!(window.update(), Some(10));
        assert_eq!(window, ReceiveWindow::new(10));
    }

    #[test]
    fn a_window_of_one_byte_and_of_none() {
        let mut window = ReceiveWindow::new(1);
        assert_eq!(window.update(), None);
        assert_eq!((window.take(1), window.update()), (Ok(()), Some(1)));
        let mut none = ReceiveWindow::new(0);
        assert_eq!((none.update(), none.take(1)), (None, Err(Exceeded)));
    }
}
