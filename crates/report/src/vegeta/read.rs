//! Reads results: vegeta's JSON, a line for each, or its CSV. Its own binary form, gob, is Go's alone.

use ablaze_model::moment::unix_ns;
use serde::Deserialize;

use super::Hit;

/// Why there are no results.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is vegeta's binary form, or nothing known.
    #[error(
        "it is neither JSON nor CSV of vegeta: of a file that vegeta wrote, use `vegeta encode FILE`, which makes JSON"
    )]
    Unknown,
    /// A line is not what those before it were.
    #[error("line {0} is no result")]
    Line(usize),
}

#[derive(Deserialize)]
struct Line {
    code: u16,
    timestamp: String,
    latency: u64,
    #[serde(default)]
    bytes_out: u64,
    #[serde(default)]
    bytes_in: u64,
    #[serde(default)]
    error: String,
}

/// The results in a file.
///
/// # Errors
/// When it has another form, or a line is none.
pub fn read(bytes: &[u8]) -> Result<Vec<Hit>, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ReadError::Unknown)?;
    let lines = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, first)) = lines().next() else { return Ok(Vec::new()) };
    let of_line = if first.trim_start().starts_with('{') { of_json } else { of_csv };
    if of_line(first).is_none() {
        return Err(ReadError::Unknown);
    }
    lines().map(|(at, line)| of_line(line).ok_or(ReadError::Line(at + 1))).collect()
}

fn of_json(line: &str) -> Option<Hit> {
    let line: Line = serde_json::from_str(line).ok()?;
    Some(Hit {
        began_unix_ns: unix_ns(&line.timestamp)?,
        latency_ns: line.latency,
        code: line.code,
        bytes_out: line.bytes_out,
        bytes_in: line.bytes_in,
        error: line.error,
    })
}

/// Unix time in ns, status, latency in ns, bytes out, bytes in, error, body, name, number, method, URL, fields.
fn of_csv(line: &str) -> Option<Hit> {
    let cells = cells(line);
    let number = |at: usize| cells.get(at)?.parse::<u64>().ok();
    (cells.len() >= 9).then_some(())?;
    Some(Hit {
        began_unix_ns: number(0)?,
        code: number(1)?.try_into().ok()?,
        latency_ns: number(2)?,
        bytes_out: number(3)?,
        bytes_in: number(4)?,
        error: cells.get(5)?.clone(),
    })
}

/// The cells of a line of CSV (RFC 4180). No cell of vegeta's has a line end in it.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = cells.len() - 1;
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cells[last].extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => cells[last].push(letter),
        }
    }
    cells
}
