//! What each side tells the other to keep to (RFC 9114, 7.2.4).

use super::error::ErrorKind;
use super::frame::{kind, write_head};
use super::varint;

/// Numbers of settings.
pub mod setting {
    /// Size of the dynamic table that an encoder may use (RFC 9204, 5).
    pub const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
    /// Largest field section (RFC 9114, 7.2.4.1).
    pub const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
    /// How many streams may wait for entries of the table (RFC 9204, 5).
    pub const QPACK_BLOCKED_STREAMS: u64 = 0x7;
    /// CONNECT with `:protocol` is understood (RFC 9220).
    pub const ENABLE_CONNECT_PROTOCOL: u64 = 0x8;
}

/// What the peer said. What it did not say has its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PeerSettings {
    /// Bytes of its dynamic table that our encoder may use.
    pub table_bytes_max: u64,
    /// Largest field section that it takes; None: it did not say.
    pub field_section_bytes_max: Option<u64>,
    /// How many of our streams may wait for its table.
    pub blocked_streams_max: u64,
    /// Whether it understands CONNECT with `:protocol`.
    pub connects_protocols: bool,
}

impl PeerSettings {
    /// Reads the payload of a SETTINGS frame. Unknown settings are ignored.
    ///
    /// # Errors
    /// When a setting comes twice, belongs to HTTP/2, has a wrong value, or is cut.
    pub fn read(payload: &[u8]) -> Result<Self, ErrorKind> {
        let mut settings = Self::default();
        let mut seen = Vec::new();
        let mut at = 0;
        while at < payload.len() {
            let mut number = || varint::read(payload, &mut at).ok_or(ErrorKind::FrameLength);
            let (name, value) = (number()?, number()?);
            seen.push(name);
            match name {
                setting::QPACK_MAX_TABLE_CAPACITY => settings.table_bytes_max = value,
                setting::MAX_FIELD_SECTION_SIZE => settings.field_section_bytes_max = Some(value),
                setting::QPACK_BLOCKED_STREAMS => settings.blocked_streams_max = value,
                setting::ENABLE_CONNECT_PROTOCOL => match value {
                    0 | 1 => settings.connects_protocols = value == 1,
                    _ => return Err(ErrorKind::SettingValue),
                },
                // ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE; 0 was never one.
                0x0 | 0x2..=0x5 => return Err(ErrorKind::SettingOfHttp2),
                _ => {}
            }
        }
        seen.sort_unstable();
        match seen.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(ErrorKind::SettingRepeated),
            false => Ok(settings),
        }
    }
}

/// Appends a SETTINGS frame.
pub fn write(out: &mut Vec<u8>, settings: &[(u64, u64)]) {
    let payload_bytes: usize =
        settings.iter().map(|&(name, value)| varint::len(name) + varint::len(value)).sum();
    write_head(out, kind::SETTINGS, payload_bytes as u64);
    for &(name, value) in settings {
        varint::write(out, name);
        varint::write(out, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_unknown_settings_are_ignored() {
        let mut frame = Vec::new();
        write(&mut frame, &[(0x1, 4_096), (0x6, 65_536), (0x7, 100), (0x8, 1), (0x21, 7)]);
        assert_eq!(frame[..2], [0x4, frame.len() as u8 - 2]);
        let expected = PeerSettings {
            table_bytes_max: 4_096,
            field_section_bytes_max: Some(65_536),
            blocked_streams_max: 100,
            connects_protocols: true,
        };
        assert_eq!(PeerSettings::read(&frame[2..]), Ok(expected));
        assert_eq!(PeerSettings::read(&[]), Ok(PeerSettings::default()));
    }

    #[test]
    fn what_must_not_be_there_is_refused() {
        let read = PeerSettings::read;
        assert_eq!(read(&[0x21, 0, 0x7, 1, 0x21, 0]), Err(ErrorKind::SettingRepeated));
        for of_http2 in [0, 2, 3, 4, 5] {
            assert_eq!(read(&[of_http2, 1]), Err(ErrorKind::SettingOfHttp2));
        }
        assert_eq!(read(&[0x8, 2]), Err(ErrorKind::SettingValue));
        assert_eq!(read(&[0x6]), Err(ErrorKind::FrameLength));
        assert_eq!(read(&[0x6, 0x40]), Err(ErrorKind::FrameLength));
    }
}
