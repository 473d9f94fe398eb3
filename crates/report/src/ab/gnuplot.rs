//! ab's `-g`: a line per request, tab-separated, the shortest total time first.

use std::io::{self, Write};

use ablaze_model::Run;
use ablaze_model::record::RequestLine;
use ablaze_sys::local_time::local_time;

use super::figures::milliseconds;

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Writes a line of names and a line per complete request that the Run kept.
///
/// # Errors
/// Those of writing.
pub fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "starttime\tseconds\tctime\tdtime\tttime\twait")?;
    let mut lines: Vec<&RequestLine> = run.record.every_request.iter().collect();
    lines.sort_by_key(|line| line.total_ns);
    let mut date = (i64::MIN, String::new());
    for line in lines {
        let seconds = ((run.started_unix_ns + line.started_ns) / 1_000_000_000) as i64;
        if date.0 != seconds {
            date = (seconds, calendar_date(seconds));
        }
        writeln!(
            out,
            "{}\t{seconds}\t{}\t{}\t{}\t{}",
            date.1,
            milliseconds(line.connect_ns),
            milliseconds(line.total_ns.saturating_sub(line.connect_ns)),
            milliseconds(line.total_ns),
            milliseconds(line.wait_ns)
        )?;
    }
    Ok(())
}

/// `Sat Nov 21 07:23:53 2026`, in local time.
fn calendar_date(unix_s: i64) -> String {
    let Some(time) = local_time(unix_s) else { return String::from("-") };
    format!(
        "{} {} {:02} {:02}:{:02}:{:02} {}",
        WEEKDAYS[usize::from(time.weekday) % 7],
        MONTHS[usize::from(time.month - 1) % 12],
        time.day,
        time.hour,
        time.minute,
        time.second,
        time.year
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn lines_are_sorted_by_total_time_and_carry_six_columns() {
        let mut run = sample::run();
        run.record.every_request.reverse();
        let mut out = Vec::new();
        super::write(&run, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("starttime\tseconds\tctime\tdtime\tttime\twait"));
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
        assert_eq!(rows.len(), 10);
        // The shortest began 9 s after the start: 3 ms in all, 2 of them connecting.
        assert_eq!(rows[0][1..], ["1781524809", "2", "1", "3", "1"]);
        assert_eq!(rows[9][1..], ["1781524800", "0", "12", "12", "12"]);
        // `Mon Jun 15 12:00:09 2026`, give or take the time zone.
        let date: Vec<&str> = rows[0][0].split(' ').collect();
        assert_eq!((date.len(), date[1], date[4]), (5, "Jun", "2026"));
        assert_eq!(date[3].split(':').nth(2), Some("09"));
    }
}
