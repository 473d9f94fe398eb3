//! Content codings of responses (RFC 9110, 8.4.1) undone, up to a length: a small body can unfold into a huge one.

use std::borrow::Cow;
use std::io::{self, Read};

use ablaze_wire::printable::printable;
use brotli_decompressor::Decompressor;
use flate2::read::{GzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

use crate::response::Headers;

/// What is asked for where a step says `compressed: true`.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// How much brotli reads at a time.
const PIECE_BYTES: usize = 4096;

/// A body without its codings, if it has any; at most `most` bytes long.
///
/// # Errors
/// In words: a coding that is not known here, bytes that are not in it, or more than `most` of them.
pub fn decoded<'b>(
    headers: Headers<'_>,
    body: &'b [u8],
    most: usize,
) -> Result<Cow<'b, [u8]>, String> {
    let fields = headers.values(b"content-encoding");
    let codings: Vec<&[u8]> = fields
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|coding| !coding.is_empty())
        .collect();
    let mut body = Cow::Borrowed(body);
    // The one that was applied last is undone first.
    for coding in codings.iter().rev() {
        if !coding.eq_ignore_ascii_case(b"identity") {
            body = Cow::Owned(without(coding, &body, most)?);
        }
    }
    Ok(body)
}

fn without(coding: &[u8], body: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let is = |name: &str| coding.eq_ignore_ascii_case(name.as_bytes());
    let mut out = Vec::new();
    let limit = most as u64 + 1;
    let read = if is("gzip") || is("x-gzip") {
        GzDecoder::new(body).take(limit).read_to_end(&mut out)
    } else if is("deflate") {
        ZlibDecoder::new(body).take(limit).read_to_end(&mut out)
    } else if is("br") {
        Decompressor::new(body, PIECE_BYTES).take(limit).read_to_end(&mut out)
    } else if is("zstd") {
        read_zstd(body, limit, &mut out)
    } else {
        let coding = String::from_utf8_lossy(coding);
        return Err(format!(
            "the body has the content coding {}, which is not supported ({ACCEPTED} are)",
            printable(&coding)
        ));
    };
    let name = String::from_utf8_lossy(coding);
    match read {
        Err(_) => Err(format!("the body says that it is {name}, and cannot be decoded as that")),
        Ok(bytes) if bytes > most => Err(format!(
            "the body has more than {most} bytes when decoded, and captures and asserts look at {most} at most"
        )),
        Ok(_) => Ok(out),
    }
}

/// All frames of a body (RFC 8878, 3.1), up to `limit` bytes.
fn read_zstd(body: &[u8], limit: u64, out: &mut Vec<u8>) -> io::Result<usize> {
    let (mut rest, mut any) = (body, false);
    while (out.len() as u64) < limit && (!any || !rest.is_empty()) {
        any = true;
        let frame = StreamingDecoder::new(&mut rest).map_err(io::Error::other)?;
        frame.take(limit - out.len() as u64).read_to_end(out)?;
    }
    Ok(out.len())
}
