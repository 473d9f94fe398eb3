//! `ablaze --version`: the version, the commit it was built from, what is built in, and what this kernel permits of it.

use ablaze_net::uring::UringDriver;
use ablaze_sys::machine::kernel_release;

/// The version with the commit, in one line.
pub fn line() -> String {
    let commit = match env!("ABLAZE_COMMIT") {
        "" if cfg!(debug_assertions) => " (debug build)".to_owned(),
        "" => String::new(),
        commit => format!(" ({commit})"),
    };
    format!("ablaze {}{commit}", env!("CARGO_PKG_VERSION"))
}

/// Everything: the line, then a line for each part.
pub fn text() -> String {
    let kernel =
        kernel_release().map_or("this kernel".to_owned(), |release| format!("Linux {release}"));
    let ring = match UringDriver::probe() {
        Ok(()) => format!("{kernel} permits io_uring"),
        Err(error) => format!("{kernel}: epoll, because io_uring cannot be used: {error}"),
    };
    [
        line(),
        format!("target   {}", env!("ABLAZE_TARGET")),
        format!("io       io_uring, epoll; {ring}"),
        "http     1.0, 1.1, 2, 3".to_owned(),
        "tls      rustls with aws-lc-rs: TLS 1.2, 1.3".to_owned(),
        "scripts  LuaJIT".to_owned(),
        String::new(),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    /// The first version that the changelog names: of its newest heading, or the one that is to come.
    #[test]
    fn the_changelog_and_the_package_have_one_version() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CHANGELOG.md");
        let Ok(changelog) = std::fs::read_to_string(path) else {
            return ablaze_testing::skip::skip("a package has no CHANGELOG.md");
        };
        let named = changelog.lines().find_map(|line| {
            let version = line.strip_prefix("## [").or(line.strip_prefix("To be released as "))?;
            version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
        });
        let named = named.unwrap().split([']', ' ']).next().unwrap().trim_end_matches('.');
        assert_eq!(named, env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn every_part_has_its_line() {
        let text = super::text();
        assert!(text.starts_with(concat!("ablaze ", env!("CARGO_PKG_VERSION"))), "{text}");
        for part in ["target   x86_64-", "io       io_uring, epoll; Linux ", "tls      rustls"] {
            assert!(
                text.lines().any(|line| line.starts_with(part))
                    || cfg!(not(target_arch = "x86_64")),
                "{text}"
            );
        }
        assert!(text.lines().all(|line| line.len() <= 200) && text.ends_with('\n'), "{text}");
    }
}
