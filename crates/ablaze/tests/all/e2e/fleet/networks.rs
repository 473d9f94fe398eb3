//! Hosts that are network namespaces of this machine, each with an address behind a router: the coordinator and the server are
//! on one network, the hosts of the workers on others. Namespaces end with the processes in them, and their
//! interfaces with the namespaces: nothing is left behind, however a test ends.

use std::path::Path;
use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, Running, Scratch};

use crate::e2e::support::eventually;

/// Where the coordinator and the server are.
pub const CENTER: &str = "10.99.0.1";
/// Where the router is to be seen from there.
pub const ROUTER: &str = "10.99.0.2";

/// A network of hosts, named `host-1` and so on.
pub struct Networks {
    center: Namespace,
    router: Namespace,
    hosts: Vec<Namespace>,
    pub folder: Scratch,
}

/// A network namespace with a host's name, kept by a process that sleeps in it.
struct Namespace {
    process: String,
    _keeper: Running,
}

impl Networks {
    /// So many hosts; why there can be none, where there cannot.
    pub fn of(hosts: usize, name: &str) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("network namespaces with interfaces need root here".to_owned());
        }
        let folder = Scratch::new(name);
        let center = Namespace::new(&folder, "center")?;
        let router = Namespace::new(&folder, "router")?;
        let mut networks = Self { center, router, hosts: Vec::new(), folder };
        networks.join(hosts)?;
        Ok(networks)
    }

    fn join(&mut self, hosts: usize) -> Result<(), String> {
        let (center, router) = (&self.center, &self.router);
        let add = format!("link add c0 type veth peer name r0 netns {}", router.process);
        center.ip(&["link set lo up", &add, &format!("addr add {CENTER}/24 dev c0")])?;
        center.ip(&["link set c0 up"])?;
        router.ip(&[
            "link set lo up",
            &format!("addr add {ROUTER}/24 dev r0"),
            "link set r0 up",
        ])?;
        router.ran(&["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"])?;
        center.ip(&[&format!("route add 10.77.0.0/16 via {ROUTER}")])?;
        for number in 1..=hosts {
            let host = Namespace::new(&self.folder, &format!("host-{number}"))?;
            let add = format!("link add r{number} type veth peer name e0 netns {}", host.process);
            let gate = format!("10.77.{number}.1");
            router.ip(&[&add, &format!("addr add {gate}/24 dev r{number}")])?;
            router.ip(&[&format!("link set r{number} up")])?;
            let address = format!("addr add {}/24 dev e0", address(number));
            host.ip(&["link set lo up", &address, "link set e0 up"])?;
            host.ip(&[&format!("route add default via {gate}")])?;
            self.hosts.push(host);
        }
        Ok(())
    }

    /// Has the router show its own address in place of those of the hosts (NAT).
    pub fn translate(&self) -> Result<(), String> {
        self.masquerade(&[])
    }

    /// The same of one host, from 1, with these ports and no others (`30000-30004`).
    pub fn translate_to_ports(&self, number: usize, ports: &str) -> Result<(), String> {
        self.masquerade(&["--to-ports", ports, "-s", &address(number)])
    }

    fn masquerade(&self, more: &[&str]) -> Result<(), String> {
        let rule = ["iptables", "-t", "nat", "-A", "POSTROUTING", "-p", "tcp", "-o", "r0"];
        self.router.ran(&[&rule[..], &["-j", "MASQUERADE"], more].concat())
    }

    /// The same command, on the coordinator's network.
    pub fn at_the_center(&self, command: &Command) -> Command {
        self.center.inside(command)
    }

    /// The same command, on one of the hosts, from 1.
    pub fn on_host(&self, number: usize, command: &Command) -> Command {
        self.hosts[number - 1].inside(command)
    }

    /// `exec:` of all hosts, whose workers run there.
    pub fn exec(&self) -> String {
        let names: Vec<String> = (1..=self.hosts.len()).map(|n| format!("host-{n}")).collect();
        self.exec_on(&names.join(","))
    }

    /// The same of these, `center` among them or not.
    pub fn exec_on(&self, names: &str) -> String {
        let folder = self.folder.path().display();
        let enter = format!("nsenter -t $(cat {folder}/{{host}}) -n -u");
        format!("exec:{names}=sh -c 'exec {enter} {{cmd}}'")
    }
}

/// The address of a host, from 1.
pub fn address(number: usize) -> String {
    format!("10.77.{number}.2")
}

impl Namespace {
    fn new(folder: &Scratch, name: &str) -> Result<Self, String> {
        let path = folder.path().join(name);
        let shown = path.display();
        let mut unshare = Command::new("unshare");
        let line = format!(
            "echo {name} > /proc/sys/kernel/hostname; echo $$ > {shown}.new; mv {shown}.new {shown}; \
             exec sleep 300"
        );
        unshare.args(["-n", "-u", "sh", "-c", &line]).stdin(Stdio::null());
        let keeper = unshare.stdout(Stdio::null()).stderr(Stdio::null()).start();
        let keeper = keeper.map_err(|error| format!("unshare: {error}"))?;
        if !eventually(|| path.exists()) {
            return Err("network namespaces are not permitted here".to_owned());
        }
        let process = read(&path);
        Ok(Self { process, _keeper: keeper })
    }

    fn inside(&self, command: &Command) -> Command {
        let mut entered = Command::new("nsenter");
        entered.args(["-t", &self.process, "-n", "-u"]).arg(command.get_program());
        entered.args(command.get_args());
        for (name, value) in command.get_envs() {
            value.map(|value| entered.env(name, value));
        }
        entered.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        entered
    }

    fn ran(&self, words: &[&str]) -> Result<(), String> {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        let ran = self.inside(&command).ran();
        match ran.status {
            0 => Ok(()),
            _ => Err(format!("`{}` fails: {}", words.join(" "), ran.stderr.trim())),
        }
    }

    /// Lines for ip(8).
    fn ip(&self, lines: &[&str]) -> Result<(), String> {
        lines.iter().try_for_each(|line| {
            let words: Vec<&str> = std::iter::once("ip").chain(line.split(' ')).collect();
            self.ran(&words)
        })
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
