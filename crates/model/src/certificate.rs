//! What reports and refusals say of a certificate: who issued it to whom, for how long, and the size
//! of its key. A walk through its DER (X.690; RFC 5280, 4.1); whether it is to be trusted is not
//! decided here.

/// Facts out of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate<'d> {
    issuer: &'d [u8],
    subject: &'d [u8],
    /// Valid from, seconds since 1970.
    pub not_before_unix_s: Option<u64>,
    /// Valid until, seconds since 1970.
    pub not_after_unix_s: Option<u64>,
    /// Size of the public key, bits; `None` for kinds not known here.
    pub key_bits: Option<u32>,
}

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
const INTEGER: u8 = 0x02;
const EXPLICIT_VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Object identifiers as they are encoded.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

impl<'d> Certificate<'d> {
    /// Reads a certificate; `None` if it is none.
    pub fn read(der: &'d [u8]) -> Option<Self> {
        let (_, certificate, _) = element(der, SEQUENCE)?;
        let (_, mut fields, _) = element(certificate, SEQUENCE)?;
        if let Some((_, _, rest)) = element(fields, EXPLICIT_VERSION) {
            fields = rest;
        }
        let (_, _, fields) = element(fields, INTEGER)?;
        let (_, _, fields) = element(fields, SEQUENCE)?;
        let (issuer, _, fields) = element(fields, SEQUENCE)?;
        let (_, validity, fields) = element(fields, SEQUENCE)?;
        let (subject, _, fields) = element(fields, SEQUENCE)?;
        let (_, key, _) = element(fields, SEQUENCE)?;
        let (_, _, until) = any_element(validity)?;
        Some(Self {
            issuer,
            subject,
            not_before_unix_s: time(validity),
            not_after_unix_s: time(until),
            key_bits: key_bits(key),
        })
    }

    /// Whether it names itself as its issuer.
    pub fn is_self_issued(&self) -> bool {
        self.issuer == self.subject
    }
}

/// The element at the front: whole, its content, and what follows.
fn any_element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let digits = usize::from(first & 0x7f);
        if digits == 0 || digits > 4 || digits > rest.len() {
            return None;
        }
        let (digits, rest) = rest.split_at(digits);
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

fn element(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8], &[u8])> {
    let (tag, content, rest) = any_element(bytes)?;
    (tag == wanted).then(|| (&bytes[..bytes.len() - rest.len()], content, rest))
}

fn key_bits(key: &[u8]) -> Option<u32> {
    let (_, algorithm, key) = element(key, SEQUENCE)?;
    let (_, kind, parameters) = element(algorithm, OBJECT_IDENTIFIER)?;
    match kind {
        EC_PUBLIC_KEY => match element(parameters, OBJECT_IDENTIFIER)?.1 {
            P256 => Some(256),
            P384 => Some(384),
            P521 => Some(521),
            _ => None,
        },
        // As OpenSSL counts them.
        ED25519 => Some(253),
        RSA => {
            let (_, bits, _) = element(key, BIT_STRING)?;
            let (_, numbers, _) = element(bits.get(1..)?, SEQUENCE)?;
            let (_, modulus, _) = element(numbers, INTEGER)?;
            let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
            let highest = modulus.get(zeros)?;
            Some(((modulus.len() - zeros) * 8) as u32 - highest.leading_zeros())
        }
        _ => None,
    }
}

/// A UTCTime or GeneralizedTime in the one form that certificates may use (RFC 5280, 4.1.2.5).
fn time(bytes: &[u8]) -> Option<u64> {
    let (tag, text, _) = any_element(bytes)?;
    let digits = text.strip_suffix(b"Z")?;
    let number = |from: usize, count: usize| -> Option<i64> {
        std::str::from_utf8(digits.get(from..from + count)?).ok()?.parse().ok()
    };
    let (year, at) = match tag {
        UTC_TIME => {
            let year = number(0, 2)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, 2)
        }
        GENERALIZED_TIME => (number(0, 4)?, 4),
        _ => return None,
    };
    let (month, day) = (number(at, 2)?, number(at + 2, 2)?);
    let (hour, minute, second) = (number(at + 4, 2)?, number(at + 6, 2)?, number(at + 8, 2)?);
    // Days since 1970 of a date in the Gregorian calendar; years begin in March here, so that the
    // leap day is a year's last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 719_469;
    u64::try_from(days * 86_400 + hour * 3600 + minute * 60 + second).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_a_certificate_are_those_it_was_made_with() {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let read = Certificate::read(made.cert.der()).unwrap();
        assert!(read.is_self_issued());
        assert_eq!(read.key_bits, Some(256));
        // rcgen's own bounds: 1975-01-01 and 4096-01-01.
        assert_eq!(read.not_before_unix_s, Some(157_766_400));
        assert_eq!(read.not_after_unix_s, Some(67_090_118_400));
    }

    #[test]
    fn times_of_both_forms() {
        let utc = |text: &[u8]| time(&[&[UTC_TIME, text.len() as u8], text].concat());
        assert_eq!(utc(b"700101000000Z"), Some(0));
        assert_eq!(utc(b"000229120000Z"), Some(951_825_600));
        assert_eq!(utc(b"261121190000Z"), Some(1_795_287_600));
        assert_eq!(utc(b"2611211900Z"), None);
        assert_eq!(time(b"\x18\x0f20380119031408Z"), Some(1 << 31));
    }

    #[test]
    fn what_is_no_certificate_is_refused_wherever_it_ends() {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let der = made.cert.der();
        for length in 0..der.len() {
            assert_eq!(Certificate::read(&der[..length]), None, "{length}");
        }
    }
}
