//! What a worker tells of its machine before the run.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use ablaze_load::planning::Planned;
use ablaze_model::fleet::WorkerMachine;
use ablaze_model::plan::IoChoice;
use ablaze_net::uring::UringDriver;

use crate::doctor;

/// Of this machine, for what is planned on it; it is looked at for a quarter of a second, before it has anything to do.
pub fn of(planned: &Planned) -> WorkerMachine {
    let plan = &planned.plan;
    let backend = match (plan.workers.io, UringDriver::probe()) {
        (IoChoice::Epoll, _) => "epoll".to_owned(),
        (_, Ok(())) => "io_uring".to_owned(),
        (_, Err(error)) => format!("epoll, because io_uring cannot be used: {error}"),
    };
    let target = &plan.target;
    let is_local =
        target.addresses.iter().any(|address| ablaze_sys::is_local_address(address.ip()));
    WorkerMachine {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        host: host_name(),
        kernel: ablaze_sys::machine::kernel_release(),
        cpu_model: ablaze_sys::machine::cpu_model(),
        cpus_allowed: ablaze_sys::allowed_cpus().map(|cpus| cpus.len() as u32),
        threads: plan.workers.count,
        connections: plan.load.connections(),
        backend,
        source: source(planned),
        on_target_host: target.unix_socket.is_some() || is_local,
        notes: planned.notes.clone(),
        checks: doctor::on(plan),
    }
}

/// The address of this host that the kernel's routes choose for the target. A UDP socket that is connected sends nothing.
fn source(planned: &Planned) -> Option<IpAddr> {
    let plan = &planned.plan;
    let is_direct = plan.target.unix_socket.is_none() && plan.target.proxy.is_none();
    if !is_direct || !plan.connections.local_addresses.is_empty() {
        return None;
    }
    let target = *plan.target.addresses.first()?;
    let any: IpAddr = match target {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(target).ok()?;
    Some(socket.local_addr().ok()?.ip().to_canonical())
}

/// The name of this host (`/proc/sys/kernel/hostname`); empty where it cannot be read.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map(|name| name.trim().to_owned()).unwrap_or_default()
}
