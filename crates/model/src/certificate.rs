//! What reports and refusals say of a certificate: who issued it to whom, for how long, and the size
//! of its key. A walk through its DER (X.690; RFC 5280, 4.1); whether it is to be trusted is not
//! decided here.

/// Facts out of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate<'d> {
    issuer: &'d [u8],
    subject: &'d [u8],
    /// Version of X.509: 1 to 3.
    pub version: u8,
    /// Extensions it has.
    pub extensions: usize,
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
const EXPLICIT_EXTENSIONS: u8 = 0xa3;
const SET: u8 = 0x31;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Object identifiers as they are encoded.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// Attributes of names, as OpenSSL shortens them.
const ATTRIBUTES: [(&[u8], &str); 14] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 17], "postalCode"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[9, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[9, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
];

impl<'d> Certificate<'d> {
    /// Reads a certificate; `None` if it is none.
    pub fn read(der: &'d [u8]) -> Option<Self> {
        let (_, certificate, _) = element(der, SEQUENCE)?;
        let (_, mut fields, _) = element(certificate, SEQUENCE)?;
        let mut version = 1;
        if let Some((_, number, rest)) = element(fields, EXPLICIT_VERSION) {
            version = element(number, INTEGER)?.1.last()?.saturating_add(1);
            fields = rest;
        }
        let (_, _, fields) = element(fields, INTEGER)?;
        let (_, _, fields) = element(fields, SEQUENCE)?;
        let (issuer, _, fields) = element(fields, SEQUENCE)?;
        let (_, validity, fields) = element(fields, SEQUENCE)?;
        let (subject, _, fields) = element(fields, SEQUENCE)?;
        let (_, key, rest) = element(fields, SEQUENCE)?;
        let (_, _, until) = any_element(validity)?;
        Some(Self {
            issuer,
            subject,
            version,
            extensions: extensions(rest),
            not_before_unix_s: time(validity),
            not_after_unix_s: time(until),
            key_bits: key_bits(key),
        })
    }

    /// Who issued it, in one line, as OpenSSL and ab write it: `/C=DE/O=Example/CN=a`.
    pub fn issuer_line(&self) -> String {
        name_line(self.issuer).unwrap_or_default()
    }

    /// Whom it was issued to, in the same form.
    pub fn subject_line(&self) -> String {
        name_line(self.subject).unwrap_or_default()
    }

    /// Whether it names itself as its issuer.
    pub fn is_self_issued(&self) -> bool {
        self.issuer == self.subject
    }
}

/// The number of extensions among what follows the key (RFC 5280, 4.1.2.9).
fn extensions(mut fields: &[u8]) -> usize {
    while let Some((tag, content, rest)) = any_element(fields) {
        if tag == EXPLICIT_EXTENSIONS {
            let Some((_, mut list, _)) = element(content, SEQUENCE) else { return 0 };
            let mut count = 0;
            while let Some((_, _, rest)) = any_element(list) {
                (count, list) = (count + 1, rest);
            }
            return count;
        }
        fields = rest;
    }
    0
}

/// A name (RFC 5280, 4.1.2.4) in one line; bytes that are no plain ASCII as `\xE4`.
fn name_line(name: &[u8]) -> Option<String> {
    let (_, mut sets, _) = element(name, SEQUENCE)?;
    let mut line = String::new();
    while let Some((_, mut set, rest)) = element(sets, SET) {
        while let Some((_, attribute, rest)) = element(set, SEQUENCE) {
            let (_, kind, value) = element(attribute, OBJECT_IDENTIFIER)?;
            let (_, value, _) = any_element(value)?;
            line.push('/');
            match ATTRIBUTES.iter().find(|(identifier, _)| *identifier == kind) {
                Some((_, short)) => line.push_str(short),
                None => line.push_str(&dotted(kind)),
            }
            line.push('=');
            for byte in value {
                match byte {
                    b' '..=b'~' => line.push(char::from(*byte)),
                    _ => line.push_str(&format!("\\x{byte:02X}")),
                }
            }
            set = rest;
        }
        sets = rest;
    }
    Some(line)
}

/// An object identifier in digits (X.690, 8.19).
fn dotted(identifier: &[u8]) -> String {
    let mut numbers = Vec::new();
    let mut number = 0u64;
    for byte in identifier {
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            numbers.push(std::mem::take(&mut number));
        }
    }
    let Some((first, others)) = numbers.split_first() else { return String::new() };
    let root = (first / 40).min(2);
    let mut text = format!("{root}.{}", first - root * 40);
    others.iter().for_each(|number| text.push_str(&format!(".{number}")));
    text
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
    fn names_versions_and_extensions_are_read() {
        use rcgen::{CertificateParams, DnType, KeyPair};
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let name = &mut params.distinguished_name;
        name.remove(DnType::CommonName);
        name.push(DnType::CountryName, "DE");
        name.push(DnType::CommonName, "Grün");
        name.push(DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 99999]), "x");
        let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let read = Certificate::read(made.der()).unwrap();
        assert_eq!(read.subject_line(), r"/C=DE/CN=Gr\xC3\xBCn/1.3.6.1.4.1.99999=x");
        assert_eq!(read.issuer_line(), read.subject_line());
        assert_eq!((read.version, read.extensions), (3, 1));
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
