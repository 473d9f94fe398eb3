//! nginx as the control group: configured to give the very response that the others give, with as
//! many workers, nothing logged, and nothing that ends a kept connection.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::secure::Files;

/// What a control is to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// Status.
    pub status: u16,
    /// Body.
    pub body: Vec<u8>,
    /// `Content-Type`.
    pub content_type: String,
    /// Whether connections are kept.
    pub keep_alive: bool,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            status: 200,
            body: b"hello, world!\n".to_vec(),
            content_type: "text/plain".to_owned(),
            keep_alive: true,
        }
    }
}

/// Longest body that is written into the configuration; a longer one comes from a file.
const IN_CONFIGURATION: usize = 4096;

/// Where nginx listens, and for what.
#[derive(Debug, Clone, Copy)]
pub struct Listens<'a> {
    /// The address and the port.
    pub at: SocketAddr,
    /// For TLS, with this certificate.
    pub files: Option<&'a Files>,
    /// For HTTP/2.
    pub http2: bool,
}

impl Listens<'_> {
    /// As directives of a server.
    fn directives(self) -> String {
        let Self { at, files, http2 } = self;
        let ssl = if files.is_some() { " ssl" } else { "" };
        let http2 = if http2 { " http2" } else { "" };
        let mut text = format!("listen {at}{ssl}{http2} backlog=16384;");
        if let Some(Files { certificate, key, .. }) = files {
            let (certificate, key) = (quoted(certificate), quoted(key));
            text += &format!(
                " ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate {certificate}; \
                 ssl_certificate_key {key};"
            );
        }
        text
    }
}

/// Writes a configuration for nginx and what it serves into a folder.
///
/// # Errors
/// When the folder cannot be written.
pub fn nginx_configuration(
    folder: &Path,
    listens: Listens<'_>,
    workers: u32,
    path: &str,
    response: &Response,
) -> io::Result<()> {
    // nginx's workers may run as another user and must find their way here.
    std::fs::create_dir_all(folder.join("www"))?;
    let path = path.split('?').next().unwrap_or("/");
    let in_folder = |name: &str| quoted(&folder.join(name));
    let location = match in_quotes(response) {
        Some(body) => format!("return {} {body};", response.status),
        None => {
            std::fs::write(folder.join("www/body"), &response.body)?;
            match path.ends_with('/') {
                // The index module would take such a path for a folder.
                true => format!("root {}; try_files /body =404;", in_folder("www")),
                false => format!("alias {};", in_folder("www/body")),
            }
        }
    };
    let kept = if response.keep_alive {
        "keepalive_timeout 3600s; keepalive_requests 1000000000; keepalive_time 24h;"
    } else {
        "keepalive_timeout 0;"
    };
    let configuration = format!(
        "worker_processes {workers};
worker_rlimit_nofile 65536;
daemon off;
pid {pid};
error_log {log} crit;
events {{ worker_connections 32768; }}
http {{
    access_log off;
    server_tokens off;
    types {{ }}
    default_type \"{content_type}\";
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    open_file_cache max=16;
    {kept}
    client_body_temp_path {body};
    proxy_temp_path {proxy};
    fastcgi_temp_path {fastcgi};
    uwsgi_temp_path {uwsgi};
    scgi_temp_path {scgi};
    server {{
        {listens}
        location = {path} {{ {location} }}
    }}
}}
",
        listens = listens.directives(),
        pid = in_folder("nginx.pid"),
        log = in_folder("error.log"),
        body = in_folder("body"),
        proxy = in_folder("proxy"),
        fastcgi = in_folder("fastcgi"),
        uwsgi = in_folder("uwsgi"),
        scgi = in_folder("scgi"),
        content_type = response.content_type.replace(['"', '\\', '\n', '\r'], ""),
    );
    std::fs::write(folder.join("nginx.conf"), configuration)
}

/// A path as one word of the configuration, whatever stands in it.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

/// The body as a word of the configuration; `None` where it has to be a file: nginx puts variables
/// into the text, and a status other than 200 has no file.
fn in_quotes(response: &Response) -> Option<String> {
    let text = std::str::from_utf8(&response.body).ok()?;
    let plain = !text.contains('$') && text.len() <= IN_CONFIGURATION;
    let quoted = || format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    (plain || response.status != 200).then(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_nginx_would_read_as_something_else_is_a_file() {
        let of = |body: &str| in_quotes(&Response { body: body.into(), ..Response::default() });
        assert_eq!(of("a \"b\" \\"), Some(r#""a \"b\" \\""#.to_owned()));
        assert_eq!(of("costs $5"), None);
        assert_eq!(of(&"x".repeat(5000)), None);
    }
}
