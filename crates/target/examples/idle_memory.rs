//! What an idle connection costs in memory, for each model: opens many connections, lets each
//! have one response, and divides what the server's process then holds more by their number. The
//! kernel's memory for the sockets is not in it.
//!
//! `cargo run --release -p ablaze-target --example idle_memory [CONNECTIONS]`

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs, io};

use ablaze_target::{Model, Options, Server};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn main() -> Result<(), Box<dyn Error>> {
    ablaze_sys::limits::raise_descriptor_limit(u64::MAX);
    let word = env::args().nth(1);
    if let Some(model) = word.as_deref().and_then(Model::from_name) {
        return serve(model);
    }
    let connections: usize = word.as_deref().unwrap_or("10000").parse()?;
    println!("{connections} idle connections, one worker, stacks of 64 KiB");
    for &model in Model::ALL {
        match bytes_per_connection(model, connections) {
            Ok(bytes) => println!("{:<15} {bytes:>7.0} bytes per connection", model.name()),
            Err(error) => println!("{:<15} {error}", model.name()),
        }
    }
    Ok(())
}

/// The server's process: says where it listens, and how much memory it holds for each line.
fn serve(model: Model) -> Result<(), Box<dyn Error>> {
    let address = "127.0.0.1:0".parse()?;
    let server = Server::start(Options { address, model, threads: 1, ..Options::default() })?;
    println!("{}", server.address());
    for line in io::stdin().lines() {
        line?;
        println!("{}", resident_bytes()?);
    }
    server.stop()?;
    Ok(())
}

/// Resident memory of this process that is its own: anonymous pages, without files.
fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib: u64 = line.and_then(|text| text.trim().strip_suffix(" kB")).unwrap_or("").parse()?;
    Ok(kib * 1024)
}

struct Process {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Process {
    fn start(model: Model) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(env::current_exe()?)
            .arg(model.name())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (Some(to), Some(from)) = (to, from) else { return Err("no pipes".into()) };
        Ok(Self { child, to, from: BufReader::new(from) })
    }

    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    fn resident_bytes(&mut self) -> Result<u64, Box<dyn Error>> {
        self.to.write_all(b"\n")?;
        Ok(self.line()?.parse()?)
    }
}

fn bytes_per_connection(model: Model, connections: usize) -> Result<f64, Box<dyn Error>> {
    let mut server = Process::start(model)?;
    let address: SocketAddr = server.line()?.parse()?;
    // What the first connection costs once is no part of what each costs.
    let first = connect(address)?;
    let before = server.resident_bytes()?;
    let idle: Vec<_> = (0..connections).map(|_| connect(address)).collect::<Result<_, _>>()?;
    let after = server.resident_bytes()?;
    drop((first, idle));
    drop(server.to);
    server.child.wait()?;
    Ok(after.saturating_sub(before) as f64 / connections as f64)
}

/// A connection that has had one response.
fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(REQUEST)?;
    let mut response = Vec::new();
    let mut byte = [0];
    while !response.ends_with(b"hello, world!\n") {
        stream.read_exact(&mut byte)?;
        response.push(byte[0]);
    }
    Ok(stream)
}
