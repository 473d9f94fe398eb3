//! Settings of the peer, and those we announce (RFC 9113, 6.5).

use super::error::ErrorKind;
use super::frame::{PAYLOAD_BYTES_MAX, PAYLOAD_BYTES_MIN, WINDOW_INITIAL, WINDOW_MAX, setting};
use super::hpack::TABLE_BYTES;

/// What the peer asks us to keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSettings {
    /// Size of the table it decodes with.
    pub header_table_bytes: u32,
    /// Streams we may have open; `u32::MAX` if it sets no limit.
    pub streams_max: u32,
    /// Window of a new stream.
    pub stream_window_bytes: u32,
    /// Largest payload it takes.
    pub payload_bytes_max: u32,
    /// Largest header list it takes, if it says so.
    pub header_list_bytes: Option<u32>,
}

impl Default for PeerSettings {
    fn default() -> Self {
        Self {
            header_table_bytes: TABLE_BYTES,
            streams_max: u32::MAX,
            stream_window_bytes: WINDOW_INITIAL,
            payload_bytes_max: PAYLOAD_BYTES_MIN,
            header_list_bytes: None,
        }
    }
}

impl PeerSettings {
    /// Takes the payload of a SETTINGS frame over, in its order (RFC 9113, 6.5.3). Unknown
    /// settings are ignored. `of_server`: a server must not permit pushes (6.5.2). The smallest
    /// size of the header table that was set on the way, which the encoder must not miss
    /// (RFC 7541, 4.2).
    ///
    /// # Errors
    /// When the payload is no list of settings, or one has a value it must not have.
    pub fn apply(&mut self, payload: &[u8], of_server: bool) -> Result<u32, ErrorKind> {
        let mut least_table_bytes = u32::MAX;
        let (settings, []) = payload.as_chunks::<6>() else { return Err(ErrorKind::FrameLength) };
        for &[high, low, value @ ..] in settings {
            let value = u32::from_be_bytes(value);
            match u16::from_be_bytes([high, low]) {
                setting::HEADER_TABLE_SIZE => {
                    self.header_table_bytes = value;
                    least_table_bytes = least_table_bytes.min(value);
                }
                setting::ENABLE_PUSH if value > u32::from(!of_server) => {
                    return Err(ErrorKind::SettingValue);
                }
                setting::MAX_CONCURRENT_STREAMS => self.streams_max = value,
                setting::INITIAL_WINDOW_SIZE if value > WINDOW_MAX => {
                    return Err(ErrorKind::SettingWindow);
                }
                setting::INITIAL_WINDOW_SIZE => self.stream_window_bytes = value,
                setting::MAX_FRAME_SIZE
                    if !(PAYLOAD_BYTES_MIN..=PAYLOAD_BYTES_MAX).contains(&value) =>
                {
                    return Err(ErrorKind::SettingValue);
                }
                setting::MAX_FRAME_SIZE => self.payload_bytes_max = value,
                setting::MAX_HEADER_LIST_SIZE => self.header_list_bytes = Some(value),
                _ => {}
            }
        }
        Ok(least_table_bytes.min(self.header_table_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(settings: &[(u16, u32)], of_server: bool) -> Result<PeerSettings, ErrorKind> {
        let payload: Vec<u8> = settings
            .iter()
            .flat_map(|(number, value)| [&number.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        let mut settings = PeerSettings::default();
        settings.apply(&payload, of_server).map(|_| settings)
    }

    #[test]
    fn every_setting_counts_and_the_last_of_a_kind() {
        let settings = applied(
            &[(1, 7), (3, 9), (4, 70_000), (4, 0), (5, 1 << 20), (6, 99), (0x77, 1), (2, 0)],
            true,
        );
        let expected = PeerSettings {
            header_table_bytes: 7,
            streams_max: 9,
            stream_window_bytes: 0,
            payload_bytes_max: 1 << 20,
            header_list_bytes: Some(99),
        };
        assert_eq!(settings, Ok(expected));
    }

    #[test]
    fn values_that_must_not_be_there() {
        // RFC 9113, 6.5.2.
        assert_eq!(applied(&[(2, 1)], true), Err(ErrorKind::SettingValue));
        assert_eq!(applied(&[(2, 2)], false), Err(ErrorKind::SettingValue));
        assert!(applied(&[(2, 1)], false).is_ok());
        assert_eq!(applied(&[(4, 1 << 31)], true), Err(ErrorKind::SettingWindow));
        assert_eq!(applied(&[(5, 16_383)], true), Err(ErrorKind::SettingValue));
        assert_eq!(applied(&[(5, 1 << 24)], true), Err(ErrorKind::SettingValue));
        assert_eq!(PeerSettings::default().apply(&[0; 5], true), Err(ErrorKind::FrameLength));
    }
}
