//! Local addresses to connect from: single ones and whole networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How many local addresses are used at most. Each gives its own range of ports towards the same
/// far end, so that this many are good for a hundred million connections.
pub const LOCAL_ADDRESSES_MAX: usize = 4096;

/// Addresses and networks: `10.0.0.1,10.0.0.2`, `127.1.0.0/16`, `fd00::/120`. Networks are
/// walked from their beginning, and no further than [`LOCAL_ADDRESSES_MAX`] in all.
///
/// # Errors
/// When a part is neither an address nor a network.
pub fn local_addresses(text: &str) -> Result<Vec<IpAddr>, String> {
    let networks: Vec<Network> =
        text.split(',').map(|part| Network::parse(part.trim())).collect::<Result<_, _>>()?;
    Ok(networks.iter().flat_map(Network::hosts).take(LOCAL_ADDRESSES_MAX).collect())
}

/// The addresses `first..=last`, as numbers of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    first: u128,
    last: u128,
    v4: bool,
}

impl Network {
    fn parse(part: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{part}` is not an address or network, such as 10.0.0.1 or 10.0.0.0/24");
        let (address, prefix) = match part.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u32>().map_err(|_| wrong())?)),
            None => (part, None),
        };
        let address: IpAddr = address.trim_matches(['[', ']']).parse().map_err(|_| wrong())?;
        let (number, bits, v4) = match address {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32, true),
            IpAddr::V6(v6) => (v6.to_bits(), 128, false),
        };
        let host_bits = bits - prefix.unwrap_or(bits).min(bits);
        if prefix.is_some_and(|prefix| prefix > bits) {
            return Err(wrong());
        }
        let mask = 1u128.checked_shl(host_bits).map_or(u128::MAX, |size| size - 1);
        let (mut first, mut last) = (number & !mask, number | mask);
        // The first address names the network (IPv4) or any of its routers (IPv6), the last of
        // an IPv4 network is broadcast; networks of one or two addresses have neither (RFC 3021).
        if host_bits > 1 {
            first += 1;
            last -= u128::from(v4);
        }
        Ok(Self { first, last, v4 })
    }

    fn hosts(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let v4 = self.v4;
        (self.first..=self.last).map(move |number| {
            if v4 {
                Ipv4Addr::from_bits(number as u32).into()
            } else {
                Ipv6Addr::from_bits(number).into()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        local_addresses(text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_and_networks() {
        assert_eq!(texts("10.0.0.1,::1"), ["10.0.0.1", "::1"]);
        assert_eq!(texts("10.0.0.77/30"), ["10.0.0.77", "10.0.0.78"]);
        assert_eq!(texts("10.0.0.4/31"), ["10.0.0.4", "10.0.0.5"]);
        assert_eq!(texts("10.0.0.4/32"), ["10.0.0.4"]);
        assert_eq!(texts("fd00::/126"), ["fd00::1", "fd00::2", "fd00::3"]);
        assert_eq!(texts("127.0.0.0/24,127.9.9.9").len(), 255);
    }

    #[test]
    fn the_largest_networks_cost_no_more_than_the_bound() {
        for network in ["0.0.0.0/0", "::/0", "10.0.0.0/8"] {
            assert_eq!(local_addresses(network).unwrap().len(), LOCAL_ADDRESSES_MAX, "{network}");
        }
        assert_eq!(texts("10.0.0.0/8")[4095], "10.0.16.0");
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in ["", "10.0.0", "10.0.0.0/33", "::/129", "eth0", "10.0.0.0/"] {
            assert!(local_addresses(text).is_err(), "{text}");
        }
    }
}
