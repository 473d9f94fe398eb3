//! What a worker tells of its machine before the run.

use ablaze_load::planning::Planned;
use ablaze_model::fleet::WorkerMachine;
use ablaze_model::plan::IoChoice;
use ablaze_net::uring::UringDriver;

/// Of this machine, for what is planned on it.
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
        on_target_host: target.unix_socket.is_some() || is_local,
        notes: planned.notes.clone(),
    }
}

/// The name of this host (`/proc/sys/kernel/hostname`); empty where it cannot be read.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map(|name| name.trim().to_owned()).unwrap_or_default()
}
