//! A server of one's own under any of the I/O models: the model is the first argument, the address
//! to listen on the second.
//!
//! `cargo run --release -p ablaze-target --example own_server -- epoll-lt 127.0.0.1:8080`

use ablaze_target::handler::{Handler, Reply, Request, Response};
use ablaze_target::{Model, Options, Server};

/// Greets whom the path names: the whole of the server's own code.
struct Greeter;

impl Handler for Greeter {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        match request.path.strip_prefix(b"/greet/") {
            Some(name) => {
                Response::text(200, format!("hello, {}!\n", String::from_utf8_lossy(name))).into()
            }
            None => Response::text(404, "ask for /greet/YOU\n").into(),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "epoll-et".into());
    let Some(model) = Model::from_name(&name) else {
        let names: Vec<_> = Model::ALL.iter().map(|model| model.name()).collect();
        return Err(format!("there is no model {name}; choose one of {}", names.join(", ")).into());
    };
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into()).parse()?;
    let server = Server::start_with(Options { address, model, ..Options::default() }, Greeter)?;
    println!("http://{}/greet/you over {model}, until Enter is pressed", server.address());
    std::io::stdin().read_line(&mut String::new())?;
    println!("{} requests", server.stop()?.requests);
    Ok(())
}
