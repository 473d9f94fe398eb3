//! node: its HTTP/2 server over TLS, which speaks HTTP/1.1 too, and without.

use std::process::Command;

use ablaze_testing::ports;
use ablaze_testing::skip::installed_if_all;

use crate::conformance::cases::{Paths, Server, conform, lines_with};
use crate::conformance::scratch::scratch;
use crate::conformance::server::Process;

/// Ports, and the folder, are its arguments.
const PROGRAM: &str = r#"
const fs = require('fs'), http2 = require('http2');
const [tls, h2c] = process.argv.slice(2).map(Number);
const small = fs.readFileSync('files/small'), large = fs.readFileSync('files/large');
const serve = (request, response) => {
  if (request.url === '/small') return response.end(request.method === 'HEAD' ? '' : small);
  if (request.url === '/large') return response.end(large);
  if (request.url === '/echo') return request.pipe(response);
  response.statusCode = 404;
  response.end('not here\n');
};
const secure = http2.createSecureServer(
  { key: fs.readFileSync('there.key'), cert: fs.readFileSync('there.pem'), allowHTTP1: true },
  serve).listen(tls, '127.0.0.1');
const plain = http2.createServer(serve).listen(h2c, '127.0.0.1');
for (const server of [secure, plain])
  for (const event of ['sessionError', 'tlsClientError', 'clientError', 'streamError', 'error'])
    server.on(event, (error, socket) => {
      // A client that has its last response closes, and what node still had to say (an acknowledgement
      // of settings, a window update) meets a reset. One that came earlier fails a request of the run.
      if (error.code === 'ECONNRESET') return;
      // Those that only asked whether it listens said nothing.
      if (!socket || socket.bytesRead !== 0) console.error('COMPLAINT', event, error);
    });
process.on('SIGTERM', () => process.exit(0));
"#;

#[test]
fn node() {
    let Some(program) = installed_if_all("node") else { return };
    let scratch = scratch("node");
    let (tls, h2c) = (ports::free(), ports::free());
    let script = scratch.write("server.js", PROGRAM);
    let mut command = Command::new(program);
    command.args([script, tls.to_string(), h2c.to_string()]);
    let _process = Process::start(command, &scratch, &[tls, h2c]);
    let paths = Paths { small: "/small", large: "/large", echo: "/echo" };
    let (tls, h2c) = (Some(tls), Some(h2c));
    let server = Server { name: "node", scratch: &scratch, tls, h2c, h3: None, http1: true, paths };
    conform(&server, || lines_with(&scratch.read("output"), |line| line.contains("COMPLAINT")));
}
