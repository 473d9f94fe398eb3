//! What the program of a command is, by the word that starts it.

use super::peers;

/// The name of the program in a word that may be a path, an image with a tag, a program of Windows or a file as it is
/// released: `/usr/bin/wrk`, `ghcr.io/hatoo/oha:latest`, `wrk.exe`, `bombardier-linux-amd64`.
pub fn name(word: &str) -> &str {
    let file = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let file = file.split(':').next().unwrap_or_default();
    let file = file.strip_suffix(".exe").unwrap_or(file);
    match file.split_once(['-', '_']) {
        Some((name, rest)) if is_client(name) && is_platform(rest) => name,
        // Apache's, with TLS.
        _ if file == "abs" => "ab",
        _ => file,
    }
}

/// `linux-amd64`, `x86_64-unknown-linux-musl`, `v1.2.6-darwin-arm64`.
fn is_platform(rest: &str) -> bool {
    const SYSTEMS: [&str; 7] =
        ["linux", "darwin", "macos", "windows", "freebsd", "openbsd", "win64"];
    let rest = rest.to_ascii_lowercase();
    rest.split(['-', '_', '.']).any(|part| SYSTEMS.contains(&part))
}

/// Whether it is the name of a load tester whose command is read.
pub(super) fn is_client(name: &str) -> bool {
    matches!(name, "ab" | "gurl" | "ablaze" | "vegeta") || peers::of(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::name;

    #[test]
    fn a_program_is_known_by_the_names_of_its_files() {
        for (word, program) in [
            ("/usr/bin/wrk", "wrk"),
            ("ghcr.io/hatoo/oha:latest", "oha"),
            ("wrk.exe", "wrk"),
            (r".\bombardier-windows-amd64.exe", "bombardier"),
            (r"C:\Apache24\bin\abs.exe", "ab"),
            ("hey_linux_amd64", "hey"),
            ("oha-linux-amd64", "oha"),
            ("wrk-results", "wrk-results"),
            ("hey-you", "hey-you"),
        ] {
            assert_eq!(name(word), program, "{word}");
        }
    }

    #[test]
    fn a_command_is_read_wherever_it_stands_on_its_line() {
        for (line, text) in [
            (r"C:\Apache24\bin>ab.exe -n 20 -c 10 http://h/", "ab.exe -n 20 -c 10 http://h/"),
            ("$ab -kc 10 -n 20 http://h/", "ab -kc 10 -n 20 http://h/"),
            (
                "λ bombardier-windows-amd64.exe -l -c10 http://h/",
                "bombardier-windows-amd64.exe -l -c10 http://h/",
            ),
            ("$ ./server & sleep 1; wrk -t2 -c30 http://h/; kill %1", "wrk -t2 -c30 http://h/"),
            ("cd x && wrk -t2 -c30 http://h/ > log && cat log", "wrk -t2 -c30 http://h/"),
            (
                "docker run --rm -it -c 512 --name wrk skandyla/wrk -t2 -c20 http://h/",
                "skandyla/wrk -t2 -c20 http://h/",
            ),
            (
                "docker run --entrypoint wrk skandyla/wrk:4 -t2 -c20 http://h/",
                "skandyla/wrk:4 -t2 -c20 http://h/",
            ),
            (
                "docker run --name=wrk --network hey bench/wrk -t2 -c20 http://h/",
                "bench/wrk -t2 -c20 http://h/",
            ),
            ("kubectl exec -c wrk pod -- wrk -t2 -c20 http://h/", "wrk -t2 -c20 http://h/"),
        ] {
            assert_eq!(find(line, 1).map(|command| command.text).as_deref(), Some(text), "{line}");
        }
        assert_eq!(find("docker run --name wrk alpine/bench -t2 -c20 http://h/", 1), None);
        assert_eq!(find("echo done; hey there -n 3 http://", 1), None);
    }
}
