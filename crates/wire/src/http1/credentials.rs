//! Basic credentials (RFC 7617): what comes behind `Authorization:`.

/// The value of an Authorization header for `user:password`: `Basic` and the base64 of it.
pub fn basic(user_and_password: &[u8]) -> String {
    let mut value = String::from("Basic ");
    for three in user_and_password.chunks(3) {
        value.extend(four_letters(three));
    }
    value
}

/// Base64 of up to three bytes (RFC 4648, section 4), padded.
fn four_letters(bytes: &[u8]) -> [char; 4] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or(0));
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    // One byte fills two letters, two bytes three.
    std::array::from_fn(|at| {
        if at > bytes.len() {
            return '=';
        }
        ALPHABET[(bits >> (18 - 6 * at) & 63) as usize] as char
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standards() {
        // RFC 7617, section 2.
        assert_eq!(basic(b"Aladdin:open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        // RFC 4648, section 10.
        assert_eq!(basic(b""), "Basic ");
        assert_eq!(basic(b"f"), "Basic Zg==");
        assert_eq!(basic(b"fo"), "Basic Zm8=");
        assert_eq!(basic(b"foo"), "Basic Zm9v");
        assert_eq!(basic(b"foobar"), "Basic Zm9vYmFy");
    }

    #[test]
    fn bytes_outside_ascii() {
        // RFC 7617, section 2.1: "test" and "123" with a pound sign, in UTF-8.
        assert_eq!(basic("test:123\u{a3}".as_bytes()), "Basic dGVzdDoxMjPCow==");
    }
}
