//! Bodies of all kinds.

use ::base64::Engine;
use ::base64::alphabet;
use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::json;
use super::reader::{Parsed, Reader};
use super::text::{backtick, file_name, plain};
use super::tree::{Body, BodyValue, Multiline, Template};
use super::xml;

/// Base64 as people paste it: with padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A body and the end of its line, if one follows; nothing is read otherwise.
pub(super) fn body(reader: &mut Reader<'_>) -> Parsed<Option<Body>> {
    let start = reader.offset();
    reader.blank_lines();
    let at = reader.at();
    let Some(value) = value(reader)? else {
        reader.seek(start);
        return Ok(None);
    };
    reader.line_end()?;
    Ok(Some(Body { at, value }))
}

fn value(reader: &mut Reader<'_>) -> Parsed<Option<BodyValue>> {
    Ok(Some(if reader.sees("```") {
        BodyValue::Multiline(multiline(reader)?)
    } else if reader.sees("`") {
        BodyValue::Oneline(backtick(reader)?)
    } else if reader.sees("<") {
        BodyValue::Xml(xml::xml(reader)?)
    } else if reader.sees("base64,") {
        BodyValue::Bytes(base64(reader)?)
    } else if reader.sees("hex,") {
        BodyValue::Bytes(hex(reader)?)
    } else if reader.sees("file,") {
        BodyValue::File(file(reader)?)
    } else if json::sees_json(reader) {
        BodyValue::Json(json::json(reader)?)
    } else {
        return Ok(None);
    }))
}

/// `file,path;`
pub(super) fn file(reader: &mut Reader<'_>) -> Parsed<Template> {
    reader.expect("file,")?;
    reader.spaces();
    let name = file_name(reader)?;
    reader.spaces();
    reader.expect(";")?;
    Ok(name)
}

/// `hex,0aff;`
pub(super) fn hex(reader: &mut Reader<'_>) -> Parsed<Vec<u8>> {
    reader.expect("hex,")?;
    reader.spaces();
    let digits = reader.take_while(|c| c.is_ascii_hexdigit());
    if digits.len() % 2 == 1 {
        return reader.fail("another hexadecimal digit: two make a byte");
    }
    reader.spaces();
    reader.expect(";")?;
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    Ok(digits.as_bytes().chunks(2).map(|pair| value(pair[0]) * 16 + value(pair[1])).collect())
}

/// `base64,…;`, on any number of lines.
pub(super) fn base64(reader: &mut Reader<'_>) -> Parsed<Vec<u8>> {
    reader.expect("base64,")?;
    let start = reader.offset();
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let is_digit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let text = reader.take_while(|c| is_space(c) || is_digit(c));
    reader.expect(";")?;
    let digits: String = text.chars().filter(|c| !is_space(*c)).collect();
    BASE64.decode(digits).or_else(|_| {
        reader.seek(start);
        reader.fail("bytes in base64")
    })
}

/// Lines between lines of three backticks.
pub(super) fn multiline(reader: &mut Reader<'_>) -> Parsed<Multiline> {
    reader.expect("```")?;
    let start = reader.offset();
    let kind = reader.take_while(|c| c.is_ascii_alphanumeric());
    if kind == "graphql" {
        reader.eat(",");
    }
    reader.spaces();
    if !(reader.eat("\n") || reader.eat("\r\n")) {
        reader.seek(start);
        return reader.fail("json, xml, graphql, raw or the end of the line after ```");
    }
    let found = match kind {
        "" => Multiline::Text(block(reader)?),
        "json" => Multiline::Json(block(reader)?),
        "xml" => Multiline::Xml(block(reader)?),
        "raw" => Multiline::Raw(raw(reader)),
        "graphql" => return graphql(reader),
        _ => {
            reader.seek(start);
            return reader.fail("json, xml, graphql, raw or the end of the line after ```");
        }
    };
    reader.expect("```")?;
    Ok(found)
}

fn block(reader: &mut Reader<'_>) -> Parsed<Template> {
    plain(reader, |reader| reader.sees("```"))
}

fn raw(reader: &mut Reader<'_>) -> String {
    let rest = reader.rest();
    let length = rest.find("```").unwrap_or(rest.len());
    reader.seek(reader.offset() + length);
    rest[..length].to_owned()
}

/// The query, and an object after the word `variables` at the beginning of a line.
fn graphql(reader: &mut Reader<'_>) -> Parsed<Multiline> {
    let start = reader.offset();
    let rest = reader.rest();
    let block = &rest[..rest.find("```").unwrap_or(rest.len())];
    let is_word = |at: usize| {
        let object = block[at + 1..].strip_prefix("variables");
        object.is_some_and(|object| object.trim_start_matches([' ', '\t']).starts_with('{'))
    };
    let word = block.match_indices('\n').map(|(at, _)| at).find(|at| is_word(*at));
    let end = start + word.map_or(block.len(), |at| at + 1);
    let query = plain(reader, |reader| reader.offset() >= end)?;
    let mut variables = None;
    if word.is_some() {
        reader.expect("variables")?;
        reader.spaces();
        variables = Some(json::compact(reader)?);
        reader.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
    }
    reader.expect("```")?;
    Ok(Multiline::GraphQl { query, variables })
}
