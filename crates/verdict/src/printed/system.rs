//! What shells, servers, compilers and other programs print beside a run: no title of the report below.

/// How such lines begin.
const BEGINNINGS: [&str; 27] = [
    "nohup: ",
    "Warning: Permanently added ",
    "Last login: ",
    "Connection to ",
    "New configuration template added to ",
    "Run siege -C to view ",
    "WARNING: MIME type not set",
    "nginx: ",
    "nginx version: ",
    "Reading package lists",
    "Building dependency tree",
    "Reading state information",
    "Setting up ",
    "npm WARN",
    "npm warn",
    "npm notice",
    "Compiling ",
    "Downloaded ",
    "Downloading ",
    "Updating crates.io",
    "Locking ",
    "open files ",
    "ulimit: ",
    "% Total ",
    "Dload ",
    "Running `",
    "vm.overcommit",
];

/// What shells print of a program that a signal ended.
const ENDS: [&str; 7] = [
    "Killed",
    "Terminated",
    "Aborted",
    "Segmentation fault",
    "Broken pipe",
    "Killed: 9",
    "Segmentation fault (core dumped)",
];

/// How a server says where it can be reached, in lower case.
const REACHED: [&str; 7] = [
    "listening on ",
    "listening at ",
    "listening to port ",
    "running on http",
    "running at http",
    "serving http on ",
    "serving on http",
];

/// How messages of compilers and others begin.
const LEVELS: [&str; 8] =
    ["warning: ", "warning[", "error: ", "error[", "note: ", "notice: ", "info: ", "debug: "];

/// Whether the line is one of them.
pub fn is_message(line: &str) -> bool {
    let lower = line.to_lowercase();
    // A frame or a colon makes a title of it: `=== Listening on :80 ===`, `warning: on:`.
    let is_title = line.starts_with(['=', '#', '-']) || line.ends_with(':');
    let is_reached = || REACHED.iter().any(|words| lower.contains(words));
    !is_title
        && (BEGINNINGS.iter().any(|start| line.starts_with(start))
            || ENDS.contains(&line)
            || LEVELS.iter().any(|level| lower.starts_with(level))
            || is_of_job(line)
            || is_reached())
}

/// `[1] 12345` and `[1]+  Done                    ./server`.
fn is_of_job(line: &str) -> bool {
    let Some((number, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = rest.trim_start_matches(['+', '-']).trim_start();
    let states = ["Done", "Exit ", "Running", "Terminated", "Killed", "Stopped", "Aborted"];
    is_number(number) && (is_number(rest) || states.iter().any(|state| rest.starts_with(state)))
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    const REPORT: &str = "Running 30s test @ http://h/\n  4 threads and 100 connections\n\
        \x20 1501500 requests in 30.03s, 214.79MB read\nRequests/sec:  50000.00\nTransfer/sec:      7.15MB\n";

    fn label(line: &str) -> Option<String> {
        read(&format!("{line}\n{REPORT}")).reports.remove(0).label
    }

    #[test]
    fn what_other_programs_print_names_no_report() {
        for line in [
            "nohup: ignoring input",
            "Warning: Permanently added '10.0.0.1' (ED25519) to the list of known hosts.",
            "Last login: Sat Nov 21 10:00:00 2026 from 10.0.0.2",
            "Connection to 10.0.0.1 closed.",
            "New configuration template added to /root/.siege",
            "Run siege -C to view the current settings in that file",
            "Listening on http://127.0.0.1:8080",
            "Server listening on port 3000",
            "2026/11/21 10:00:01 listening on :8080",
            "Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...",
            " * Running on http://127.0.0.1:5000",
            "warning: unused variable: `x`",
            "nginx: configuration file /etc/nginx/nginx.conf test is successful",
            "Reading package lists... Done",
            "npm WARN deprecated x@1.0.0",
            "open files                          (-n) 1024",
            "[1] 12345",
            "[1]+  Done                    ./server",
            "Killed",
            "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current",
        ] {
            assert_eq!(label(line), None, "{line}");
        }
        // The name above it stands.
        let named = read(&format!("nginx\nListening on http://127.0.0.1:8080\n{REPORT}"));
        assert_eq!(named.reports[0].label.as_deref(), Some("nginx"));
    }

    #[test]
    fn titles_that_look_like_them_stay() {
        for (line, name) in [
            ("nginx", "nginx"),
            ("nginx 1.22", "nginx 1.22"),
            ("[1] nginx", "[1] nginx"),
            ("1024", "1024"),
            ("Connections: 100", "Connections: 100"),
            ("errors", "errors"),
            ("killed connections", "killed connections"),
        ] {
            assert_eq!(label(line).as_deref(), Some(name), "{line}");
        }
    }
}
