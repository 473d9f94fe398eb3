//! How long things take: in words, and what comes on top of the length of a run.

use std::time::Duration;

/// What starting and stopping a target takes beside its run.
pub const BESIDE_A_RUN: Duration = Duration::from_millis(400);

/// A length of time in minutes and seconds: `2 min 05 s`.
pub fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        let told = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!([told(5), told(65), told(3725)], ["5 s", "1 min 05 s", "1 h 02 min"]);
    }
}
