//! Responses of which none was as expected: how many had which status, and what to look at.

use ablaze_model::Run;
use ablaze_model::spec::FrontEnd;

use super::refused::asks_for_another_scheme;

/// How many of the responses had the most frequent status.
pub(super) fn of_all(count: u64, responses: u64, status: u16) -> String {
    match (count >= responses, count > responses / 2) {
        (true, _) => format!("all were {status}"),
        (_, true) => format!("most were {status}"),
        _ => format!("{status} was the most frequent"),
    }
}

/// What a status asks for (RFC 9110, 15.5 and 15.6).
pub(super) fn what_to_check(status: u16, run: &Run) -> &'static str {
    let credentials = run.asked.as_ref().is_some_and(|asked| asked.has_credentials());
    match (status, run.front_end()) {
        (401, _) if asks_for_another_scheme(&run.record.first_head) => {
            "the server asks for another scheme than Basic (WWW-Authenticate): check the field that it \
             asks for, -H 'Authorization: ...'"
        }
        (401, _) if credentials => "the server rejects these credentials: check name and password",
        (401, FrontEnd::Ab) => "use -A NAME:PASSWORD",
        (401, FrontEnd::Wrk) => "use -H 'Authorization: ...'",
        // Not as a URL: notes show the credentials of one as `***`.
        (401, FrontEnd::Gurl) => "write NAME:PASSWORD and an @ before the host of the URL",
        (401, _) => "use -u NAME:PASSWORD",
        (status, _) => by_status(status),
    }
}

fn by_status(status: u16) -> &'static str {
    match status {
        404 | 410 => "check the path",
        405 => "check the method",
        500..=599 => "see the server's log",
        _ => "check the request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_counted_and_each_has_its_own_fix() {
        assert_eq!(of_all(20, 20, 500), "all were 500");
        assert_eq!(of_all(19, 20, 500), "most were 500");
        assert_eq!(of_all(2, 5, 500), "500 was the most frequent");
        assert_eq!(by_status(404), "check the path");
        assert_eq!(by_status(405), "check the method");
        assert_eq!(by_status(503), "see the server's log");
    }
}
