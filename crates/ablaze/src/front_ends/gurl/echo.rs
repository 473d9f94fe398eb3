//! `gurl -echo`: a server that responds to everything with 200 and the posted body.

use std::process::ExitCode;

use ablaze_sys::signals::StopSignals;
use ablaze_target::Options;
use ablaze_target::handler::{Body, Handler, Reply, Request, Response};
use ablaze_target::response::{FixedBody, FixedResponse};
use ablaze_target::{Server, StartError};
use ablaze_wire::http1::request_head::Method;

use crate::{CommandError, outlets, servers};

/// What gurl's server calls itself.
const SERVER_NAME: &str = "gurl-server";
const CONTENT_TYPE: &str = "text/plain; charset=utf-8";

/// Responds with the body of the request. gurl's server prints that on its own terminal instead and
/// sends back nothing; without a body there is no difference.
struct Echo {
    empty: FixedResponse,
}

impl Handler for Echo {
    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        true
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let response = if request.body.is_empty() {
            Response::Fixed(&self.empty)
        } else {
            Response::new(200, CONTENT_TYPE, Body::OfRequest)
        };
        response.into()
    }
}

/// Serves on this address until Ctrl-C or SIGTERM.
///
/// # Errors
/// When the address cannot be read or listened on.
pub fn serve_until_stopped(address: &str) -> Result<ExitCode, CommandError> {
    let options = Options {
        address: servers::address(address)?,
        server_name: SERVER_NAME.into(),
        tells_http10_of_close: false,
        ..Options::default()
    };
    // Before any thread starts: all of them have to leave these signals to this one.
    let signals = StopSignals::block()
        .map_err(|error| CommandError::machine(format!("cannot catch Ctrl-C: {error}")))?;
    ablaze_sys::limits::raise_descriptor_limit(u64::MAX);
    let empty = FixedResponse::new(200, SERVER_NAME, CONTENT_TYPE, FixedBody::Bytes(b""));
    let server = Server::start_with(options, Echo { empty }).map_err(|error| match error {
        StartError::Options(_) => CommandError::usage(error.to_string()),
        _ => CommandError::machine(error.to_string()),
    })?;
    outlets::print(&format!("listening on http://{}/\n", server.address()));
    let stopped = signals.wait();
    server.stop().map_err(|error| CommandError::machine(error.to_string()))?;
    match stopped {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(CommandError::machine(format!("waiting for a signal failed: {error}"))),
    }
}
