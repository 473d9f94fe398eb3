//! Cookies that every request sends: `--cookie`, as curl's `-b`; and what `--cookie-jar` keeps of a run.

use std::time::{SystemTime, UNIX_EPOCH};

use ablaze_journey::{Jar, Origin};
use ablaze_model::Run;
use ablaze_model::spec::{CookiesSpec, SecretRef, Secrets};
use ablaze_wire::http1::response;

use crate::Error;

/// The cookies of a load.
#[derive(Debug, Clone, Default)]
pub struct Cookies {
    jar: Jar,
    /// What was typed, as it is sent behind the others.
    typed: Vec<String>,
}

impl Cookies {
    /// Those of a spec.
    ///
    /// # Errors
    /// When a secret was not handed over, or a file is none of cookies.
    pub fn of(asked: &CookiesSpec, secrets: &Secrets) -> Result<Self, Error> {
        let text = |of: &SecretRef| secrets.text(of).map(str::to_owned);
        let typed = asked.typed.iter().map(text).collect::<Result<_, _>>()?;
        let mut jar = Jar::new();
        for (name, of) in &asked.files {
            jar.read_netscape(secrets.text(of)?, now()).map_err(|(line, why)| {
                Error::usage(format!("file `{name}` for --cookie, line {line}: {why}"))
            })?;
        }
        Ok(Self { jar, typed })
    }

    /// Whether there are none, wherever requests go.
    pub fn is_empty(&self) -> bool {
        self.jar.is_empty() && self.typed.is_empty()
    }

    /// The value of `Cookie` for a path with its query; `None` where there is none to send.
    pub fn field(&self, host: &str, is_tls: bool, path: &str) -> Option<String> {
        let path = path.split('?').next().unwrap_or(path);
        let host = host.to_ascii_lowercase();
        let origin = Origin { host: &host, path, is_tls };
        let typed = (!self.typed.is_empty()).then(|| self.typed.join(";"));
        match (self.jar.field_like_curl(&origin, now()), typed) {
            (Some(kept), Some(typed)) => Some(format!("{kept}; {typed}")),
            (kept, typed) => kept.or(typed),
        }
    }
}

/// The file of `--cookie-jar` after a run: the cookies of the files of `--cookie`, and those that the response set that was
/// complete first, unless that may have come from any of several hosts.
///
/// # Errors
/// As for [`Cookies::of`].
pub fn jar_after(
    run: &Run,
    asked: Option<&CookiesSpec>,
    secrets: &Secrets,
) -> Result<String, Error> {
    let mut jar = match asked {
        Some(asked) => Cookies::of(asked, secrets)?.jar,
        None => Jar::new(),
    };
    let target = &run.plan.target;
    if !target.others.is_empty() {
        return Ok(jar.to_netscape());
    }
    let (host, path) = (target.host.to_ascii_lowercase(), target.path.split('?').next());
    let is_tls = run.plan.tls.is_some();
    let origin = Origin { host: &host, path: path.unwrap_or("/"), is_tls };
    for line in run.record.first_head.split(|byte| *byte == b'\n') {
        if let Some(value) = response::field(&[line, b"\n"].concat(), "Set-Cookie") {
            jar.store(value, &origin, now());
        }
    }
    Ok(jar.to_netscape())
}

/// Seconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64)
}
