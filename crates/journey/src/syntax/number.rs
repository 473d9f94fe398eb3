//! Numbers of a Hurl file.

use super::reader::{Parsed, Reader};
use super::tree::{Number, TimeUnit};

/// Whether a number may begin here.
pub(super) fn sees_number(reader: &Reader<'_>) -> bool {
    let rest = reader.rest();
    rest.strip_prefix('-').unwrap_or(rest).starts_with(|c: char| c.is_ascii_digit())
}

/// Digits without a needless zero before them.
fn digits<'a>(reader: &mut Reader<'a>) -> Parsed<&'a str> {
    let start = reader.offset();
    let digits = reader.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        reader.seek(start);
        return reader.fail("a number without zeros before it");
    }
    Ok(digits)
}

/// `-12`, `3.14`
pub(super) fn number(reader: &mut Reader<'_>) -> Parsed<Number> {
    let start = reader.offset();
    reader.eat("-");
    digits(reader)?;
    if reader.eat(".") {
        if reader.take_while(|c| c.is_ascii_digit()).is_empty() {
            return reader.fail("digits after the point");
        }
        let Ok(value) = reader.since(start).parse() else { return reader.fail("a number") };
        return Ok(Number::Float(value));
    }
    let text = reader.since(start);
    Ok(text.parse().map_or_else(|_| Number::BigInteger(text.to_owned()), Number::Integer))
}

/// `12`
pub(super) fn natural(reader: &mut Reader<'_>) -> Parsed<u64> {
    let start = reader.offset();
    let Ok(value) = digits(reader)?.parse() else {
        reader.seek(start);
        return reader.fail("a whole number below 2^64");
    };
    Ok(value)
}

/// `-12`
pub(super) fn integer(reader: &mut Reader<'_>) -> Parsed<i64> {
    let start = reader.offset();
    reader.eat("-");
    digits(reader)?;
    let Ok(value) = reader.since(start).parse() else {
        reader.seek(start);
        return reader.fail("a whole number of 64 bits");
    };
    Ok(value)
}

/// `12`, or `-1` for without end.
pub(super) fn count(reader: &mut Reader<'_>) -> Parsed<Option<u64>> {
    if reader.eat("-1") { Ok(None) } else { natural(reader).map(Some) }
}

/// `250ms`, `1s`, `250`
pub(super) fn duration(reader: &mut Reader<'_>) -> Parsed<(u64, Option<TimeUnit>)> {
    let value = natural(reader)?;
    let start = reader.offset();
    let unit = match reader.take_while(|c| c.is_ascii_alphabetic()) {
        "" => None,
        "ms" => Some(TimeUnit::Milliseconds),
        "s" => Some(TimeUnit::Seconds),
        "m" => Some(TimeUnit::Minutes),
        "h" => Some(TimeUnit::Hours),
        _ => {
            reader.seek(start);
            return reader.fail("a unit of time: ms, s, m or h");
        }
    };
    Ok((value, unit))
}
