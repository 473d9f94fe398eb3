//! Where connections come from: local addresses must be of the target's family, and there must
//! be a local port for every connection.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::RangeInclusive;

use ablaze_model::plan::Connections;
use ablaze_report::system_error::reason;

use crate::Error;

/// Leaves only addresses of one family on both sides, the first of the target's that a local
/// address can reach.
///
/// # Errors
/// When no local address has the family of any of the target's.
pub fn match_families(
    targets: &mut Vec<SocketAddr>,
    locals: &mut Vec<IpAddr>,
) -> Result<(), Error> {
    if locals.is_empty() || targets.is_empty() {
        return Ok(());
    }
    let reachable =
        |target: &&SocketAddr| locals.iter().any(|local| local.is_ipv4() == target.is_ipv4());
    let Some(v4) = targets.iter().find(reachable).map(SocketAddr::is_ipv4) else {
        return Err(Error::usage(format!(
            "cannot reach {} from {} of --local-address: use addresses of the same family",
            targets[0].ip(),
            locals[0]
        )));
    };
    targets.retain(|target| target.is_ipv4() == v4);
    locals.retain(|local| local.is_ipv4() == v4);
    Ok(())
}

/// Makes sure that connections can come from these addresses. Whether one can be bound to is known best by binding to
/// it: routes can make whole networks this host's own without any interface showing them.
///
/// # Errors
/// When one cannot; `name` is what the line calls their option.
pub fn make_sure_of_addresses(addresses: &[IpAddr], name: &str) -> Result<(), Error> {
    addresses.iter().try_for_each(|address| match UdpSocket::bind((*address, 0)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::usage(format!(
            "cannot use {name} {address}: {}; use addresses of this host",
            reason(&error)
        ))),
    })
}

/// Makes sure that there are as many local ports as connections.
///
/// # Errors
/// When the ports given by `--local-ports` are too few. The kernel's own range is not the
/// person's doing: too few of those make a note.
pub fn make_sure_of_ports(
    connections: &Connections,
    count: u32,
    ephemeral: Option<RangeInclusive<u16>>,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let addresses = connections.local_addresses.len().max(1);
    let Some(range) = connections.local_ports.clone().or(ephemeral) else { return Ok(()) };
    if let Some(ports) = &connections.local_ports {
        make_sure_of_right(*ports.start())?;
    }
    // A port can be used once from each local address towards the same far end; a name with many
    // addresses does not help, since connections stay with the first that accepts one.
    let ports = range.len() as u64 * addresses as u64;
    if ports >= u64::from(count) {
        return Ok(());
    }
    let (first, last) = (range.start(), range.end());
    let there_are = if ports == 1 { "is only 1" } else { &format!("are only {ports}") };
    let range = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let shortage =
        format!("{count} connections need as many local ports, but there {there_are} ({range})");
    if connections.local_ports.is_some() {
        return Err(Error::usage(format!(
            "{shortage}: use a wider range, or more addresses with --local-address"
        )));
    }
    notes.push(format!(
        "{shortage}: use more addresses of this host with --local-address, such as 127.0.0.0/24 \
         for loopback"
    ));
    Ok(())
}

/// Ports below 1024 need a right (ip(7): CAP_NET_BIND_SERVICE); binding tells whether it is there.
fn make_sure_of_right(port: u16) -> Result<(), Error> {
    match UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Error::usage(
            format!("--local-ports {port}: ports below 1024 need root: use higher ones"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::{self, OptionNames};
    use ablaze_model::spec::{LoadSpec, Secrets};

    fn addresses<T: std::str::FromStr<Err: std::fmt::Debug>>(texts: &[&str]) -> Vec<T> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn one_family_is_left_on_both_sides() {
        let mut targets = addresses(&["[::1]:80", "127.0.0.1:80", "[::2]:80"]);
        let mut locals = addresses(&["127.0.0.2", "127.0.0.3"]);
        match_families(&mut targets, &mut locals).unwrap();
        assert_eq!(targets, addresses(&["127.0.0.1:80"]));
        let mut targets = addresses(&["[::1]:80", "127.0.0.1:80"]);
        let mut locals = addresses(&["127.0.0.2", "::1"]);
        match_families(&mut targets, &mut locals).unwrap();
        assert_eq!((targets, locals), (addresses(&["[::1]:80"]), addresses(&["::1"])));
        let mut targets = addresses(&["[::1]:80"]);
        assert!(match_families(&mut targets, &mut addresses(&["127.0.0.2"])).is_err());
    }

    #[test]
    fn an_address_of_another_host_is_refused_on_the_machine_that_would_use_it() {
        let own = addresses(&["127.0.0.1", "127.8.7.6"]);
        assert_eq!(make_sure_of_addresses(&own, "--local-address"), Ok(()));
        // 192.0.2.0/24 is for documentation (RFC 5737): nobody has it.
        let spec = |local: &str| {
            let (url, _) = ablaze_model::spec::UrlSpec::parse("http://127.0.0.1:1/").unwrap();
            let mut spec = LoadSpec::default();
            spec.destination.url = Some(url);
            spec.connections.local_addresses = addresses(&["127.0.0.1", local]);
            spec
        };
        let secrets = Secrets::default();
        let foreign = spec("192.0.2.1");
        assert!(
            planning::check(&foreign, &secrets, &OptionNames::NATIVE).is_ok(),
            "a spec is not of this machine"
        );
        let error = planning::resolve(&foreign, &secrets, &OptionNames::NATIVE).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("cannot use --local-address 192.0.2.1: "), "{text}");
        assert!(text.ends_with("; use addresses of this host"), "{text}");
        let own = planning::resolve(&spec("127.0.0.2"), &secrets, &OptionNames::NATIVE).unwrap();
        assert_eq!(own.plan.connections.local_addresses.len(), 2);
        // ab says what became of -B when it connects.
        assert!(planning::resolve(&foreign, &secrets, &OptionNames::AB).is_ok());
    }

    #[test]
    fn ports_must_suffice() {
        let mut connections = crate::planning::connections(&LoadSpec::default(), 1);
        let check = |connections: &Connections, count| {
            let mut notes = Vec::new();
            make_sure_of_ports(connections, count, Some(1000..=1099), &mut notes)
                .map(|()| notes.len())
        };
        assert_eq!(check(&connections, 100), Ok(0));
        assert_eq!(check(&connections, 101), Ok(1));
        connections.local_ports = Some(5..=6);
        assert_eq!(check(&connections, 2), Ok(0));
        assert!(check(&connections, 3).is_err());
        connections.local_addresses = addresses(&["127.0.0.1", "127.0.0.2"]);
        assert_eq!(check(&connections, 4), Ok(0));
    }
}
