//! Where the connections of a Plan go: the addresses of its origins, one behind the other, as the driver numbers them.

use ablaze_model::plan::Plan;
use ablaze_net::{Address, Endpoint, SocketOptions};

/// The endpoints of a Plan.
pub(crate) fn endpoints(plan: &Plan) -> Vec<Endpoint> {
    let addresses: Vec<Address> = match &plan.target.unix_socket {
        Some(path) => vec![Address::Unix(path.clone())],
        None => {
            let others = plan.target.others.iter().flat_map(|origin| &origin.addresses);
            let kind = if plan.http3.is_some() { Address::Udp } else { Address::Tcp };
            plan.target.addresses.iter().chain(others).copied().map(kind).collect()
        }
    };
    let connections = &plan.connections;
    addresses
        .into_iter()
        .map(|address| Endpoint {
            address,
            local_addresses: connections.local_addresses.clone(),
            local_ports: connections.local_ports.clone(),
            options: SocketOptions {
                no_delay: connections.no_delay,
                send_buffer_bytes: connections.socket_buffer_bytes,
                receive_buffer_bytes: connections.socket_buffer_bytes,
            },
        })
        .collect()
}
