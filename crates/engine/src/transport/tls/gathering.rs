//! Handshake messages, which records cut as they like (RFC 8446, 5.1).

use super::protection::Damage;

/// No message that comes behind a handshake is as long; of those in it rustls reads less.
const MESSAGE_BYTES_MAX: usize = 1 << 17;

/// What came of messages that are not whole.
#[derive(Debug, Default)]
pub struct Messages {
    begun: Vec<u8>,
}

impl Messages {
    /// Shows every message that is whole with these bytes: its kind, its content, and whether nothing came behind it. The
    /// beginning of the next stays where it lies, so that one in many records costs no more than its bytes.
    ///
    /// # Errors
    /// Those of `show`, and when a message is too long.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut show: impl FnMut(u8, &[u8], bool) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let mut gathered = std::mem::take(&mut self.begun);
        gathered.extend_from_slice(bytes);
        let mut rest = &gathered[..];
        while let &[kind, high, middle, low, ref behind @ ..] = rest {
            let length = u32::from_be_bytes([0, high, middle, low]) as usize;
            if length > MESSAGE_BYTES_MAX {
                return Err(Damage::TooLong);
            }
            let Some((content, behind)) = behind.split_at_checked(length) else { break };
            rest = behind;
            show(kind, content, rest.is_empty())?;
        }
        if !rest.is_empty() {
            let shown = gathered.len() - rest.len();
            gathered.drain(..shown);
            self.begun = gathered;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message: kind, length, as much content.
    fn message(kind: u8, bytes: usize) -> Vec<u8> {
        let [_, high, middle, low] = (bytes as u32).to_be_bytes();
        let content = (0..bytes).map(|at| at as u8);
        [kind, high, middle, low].into_iter().chain(content).collect()
    }

    #[test]
    fn messages_are_shown_whole_however_records_cut_them() {
        let sent = [message(4, 300), message(24, 1), message(4, 0), message(24, 1)].concat();
        for piece in [1, 3, 4, 7, 150, 304, 305, 320] {
            let (mut messages, mut shown) = (Messages::default(), Vec::new());
            for bytes in sent.chunks(piece) {
                let show = |kind, content: &[u8], _| {
                    shown.push((kind, content.len()));
                    Ok(())
                };
                messages.read(bytes, show).unwrap();
            }
            assert_eq!(shown, [(4, 300), (24, 1), (4, 0), (24, 1)], "{piece}");
            assert!(messages.begun.capacity() == 0, "{piece}");
        }
    }

    #[test]
    fn what_follows_in_the_same_record_is_known() {
        let mut last = Vec::new();
        let bytes = [&message(4, 2)[..], &message(24, 1), &[24]].concat();
        let show = |_, _: &[u8], is_last| {
            last.push(is_last);
            Ok(())
        };
        Messages::default().read(&bytes[..11], show).unwrap();
        let show = |_, _: &[u8], is_last| {
            last.push(is_last);
            Ok(())
        };
        Messages::default().read(&bytes, show).unwrap();
        assert_eq!(last, [false, true, false, false]);
    }

    /// Its bytes are not copied for each of its records: a server would have the client copy gigabytes.
    #[test]
    fn a_long_message_in_records_of_one_byte_costs_its_bytes() {
        let long = message(4, MESSAGE_BYTES_MAX);
        let (mut messages, mut shown, mut moves) = (Messages::default(), 0, 0);
        let mut place = std::ptr::null();
        for byte in &long {
            let show = |_, content: &[u8], _| {
                shown += content.len();
                Ok(())
            };
            messages.read(std::slice::from_ref(byte), show).unwrap();
            // Where it grows it may move.
            moves += u32::from(messages.begun.as_ptr() != place);
            place = messages.begun.as_ptr();
        }
        assert_eq!(shown, MESSAGE_BYTES_MAX);
        assert!(moves < 20, "{moves}");
        let too_long = message(4, MESSAGE_BYTES_MAX + 1);
        let read = messages.read(&too_long[..4], |_, _, _| Ok(()));
        assert!(matches!(read, Err(Damage::TooLong)));
    }
}
