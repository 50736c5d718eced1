//! Clients' addresses: the network that a client belongs to, and the client behind trusted proxies.
//!
//! A provider gives an IPv6 customer 2⁶⁴ addresses or more, so a limit on each address would limit no
//! customer: count by network instead.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The identifier of a client's network: an IPv4 address or network, or an IPv6 network in the form of
/// RFC 5952. `None` if `address` is not an IP address.
///
/// `ipv6_bits` is 1 to 128, `ipv4_bits` 1 to 32. A port after the address is dropped: some web servers write one.
///
/// # Example
///
/// ```
/// use token_bucket::address::network;
///
/// assert_eq!(network(b"2001:db8:1:2::3", 64, 32).as_deref(), Some("2001:db8:1:2::/64"));
/// assert_eq!(network(b"::ffff:192.0.2.1", 64, 32).as_deref(), Some("192.0.2.1"));
/// assert_eq!(network(b"localhost", 64, 32), None);
/// ```
pub fn network(address: &[u8], ipv6_bits: u32, ipv4_bits: u32) -> Option<String> {
    Some(match parse(without_port(address))? {
        IpAddr::V4(address) if ipv4_bits >= 32 => address.to_string(),
        IpAddr::V4(address) => {
            let base = Ipv4Addr::from_bits(address.to_bits() & ipv4_mask(ipv4_bits));
            format!("{base}/{ipv4_bits}")
        }
        IpAddr::V6(address) => {
            let base = Ipv6Addr::from_bits(address.to_bits() & ipv6_mask(ipv6_bits));
            format!("{base}/{ipv6_bits}")
        }
    })
}

/// The address of the client that a request came from.
///
/// `remote` is the address of the connection, none if the web server gave none at all. While it is that of a trusted proxy,
/// the entry that this proxy appended to `forwarded` (the header `X-Forwarded-For`) takes its place, from right to left:
/// what stands further to the left may have been written by the client.
pub fn client<'a>(remote: Option<&'a [u8]>, forwarded: &'a [u8], proxies: &[Proxy]) -> &'a [u8] {
    let mut entries = forwarded.rsplit(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let mut address = remote.map(without_port).unwrap_or_default();
    let mut is_trusted = is_proxy(remote, proxies);
    while is_trusted {
        match entries.next() {
            Some(entry) if !entry.is_empty() => address = without_port(entry),
            _ => break,
        }
        is_trusted = is_in_networks(address, proxies);
    }
    address
}

/// Whether the connection is that of a trusted proxy. Only a connection can come by a unix socket: an entry of the header may be
/// the client's.
pub fn is_proxy(remote: Option<&[u8]>, proxies: &[Proxy]) -> bool {
    match remote {
        Some(b"" | UNIX_SOCKET) => proxies.contains(&Proxy::UnixSocket),
        _ => is_in_networks(remote.map(without_port).unwrap_or_default(), proxies),
    }
}

fn is_in_networks(address: &[u8], proxies: &[Proxy]) -> bool {
    let holds = |proxy: &Proxy, address| matches!(proxy, Proxy::Network(network) if network.contains(address));
    parse(address).is_some_and(|address| proxies.iter().any(|proxy| holds(proxy, address)))
}

/// Whether a text is an address or a network that visitors from the internet do not have: private, shared by a provider's
/// customers, loopback or link-local. A port after the address is dropped.
pub fn is_private(text: &[u8]) -> bool {
    Network::of_client(text).is_some_and(|network| match network.base {
        IpAddr::V4(base) => {
            let [first, second, ..] = base.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            base.is_private() || base.is_loopback() || base.is_link_local() || is_shared
        }
        IpAddr::V6(base) => {
            // A /64 of ::1 is ::.
            let is_loopback = base.is_loopback() || base.is_unspecified();
            is_loopback || base.is_unique_local() || base.is_unicast_link_local()
        }
    })
}

/// The network of what is no address: all those clients share one bucket.
pub const UNKNOWN: &str = "unknown";

/// What web servers write for the other end of a unix socket, if they write anything.
pub const UNIX_SOCKET: &[u8] = b"unix:";

/// A proxy that is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Whatever connects from this network.
    Network(Network),
    /// Whatever connects to a unix socket of the web server.
    UnixSocket,
}

impl Proxy {
    /// Reads an address, a network, or `unix:`. `None` if it is none of them.
    pub fn parse(text: &[u8]) -> Option<Self> {
        match text {
            UNIX_SOCKET => Some(Self::UnixSocket),
            text => Network::parse(text).map(Self::Network),
        }
    }
}

/// A network of addresses, such as `10.0.0.0/8`, or a single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    base: IpAddr,
    bits: u32,
}

impl Network {
    /// Reads an address, or an address and the number of its bits that count. `None` if it is neither.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let slash = text.iter().position(|byte| *byte == b'/');
        let (address, bits) = match slash.and_then(|at| text.split_at_checked(at)) {
            Some((address, bits)) => (address, Some(bits.get(1..)?)),
            None => (text, None),
        };
        let written = parse_as_written(address)?;
        let base = unmap_ipv4(written);
        let most = if written.is_ipv4() { 32 } else { 128 };
        let bits: u32 = match bits {
            None => most,
            Some(digits) if digits.iter().all(u8::is_ascii_digit) => {
                std::str::from_utf8(digits).ok()?.parse().ok().filter(|bits| *bits <= most)?
            }
            Some(_) => return None,
        };
        // The first 96 bits of an IPv4 address in IPv6 form only mark it as such.
        let bits = match base.is_ipv4() && written.is_ipv6() {
            // Not all of IPv4, which no such text is meant to be: 64:ff9b::/96 is the prefix of NAT64.
            true => bits.checked_sub(96).filter(|bits| *bits > 0)?,
            false => bits,
        };
        Some(Self { base, bits })
    }

    /// Reads what a client is counted by, an address or a network that [`network`] made of one. `None` if it is neither. A port after
    /// the address is dropped.
    pub fn of_client(text: &[u8]) -> Option<Self> {
        Self::parse(without_port(text))
    }

    /// The number of the first bits that all its addresses share, and those bits at the top of a number.
    pub fn prefix(&self) -> (u32, u128) {
        let bits = match self.base {
            IpAddr::V4(base) => u128::from(base.to_bits()) << 96,
            IpAddr::V6(base) => base.to_bits(),
        };
        (self.bits, bits & ipv6_mask(self.bits))
    }

    /// Whether it is of IPv4.
    pub const fn is_ipv4(&self) -> bool {
        self.base.is_ipv4()
    }

    /// The network as it should be written, if it was written with bits beyond those that count.
    pub fn if_written_otherwise(&self) -> Option<String> {
        let base: IpAddr = match self.base {
            IpAddr::V4(base) => Ipv4Addr::from_bits(base.to_bits() & ipv4_mask(self.bits)).into(),
            IpAddr::V6(base) => Ipv6Addr::from_bits(base.to_bits() & ipv6_mask(self.bits)).into(),
        };
        (base != self.base).then(|| format!("{base}/{}", self.bits))
    }

    /// Whether all addresses of the other network belong to this one.
    pub fn holds(&self, other: &Self) -> bool {
        self.bits <= other.bits && self.contains(other.base)
    }

    /// Whether an address, as [`parse`] returns it, belongs to the network.
    fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                (base.to_bits() ^ address.to_bits()) & ipv4_mask(self.bits) == 0
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                (base.to_bits() ^ address.to_bits()) & ipv6_mask(self.bits) == 0
            }
            _ => false,
        }
    }
}

/// The address, IPv4 where it is one in an IPv6 form.
fn parse(address: &[u8]) -> Option<IpAddr> {
    parse_as_written(address).map(unmap_ipv4)
}

/// The address as written; a zone (`fe80::1%eth0`) is dropped.
fn parse_as_written(address: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(address).ok()?;
    match text.split_once('%') {
        None => text.parse().ok(),
        Some((address, zone)) => {
            let is_zone = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            let is_valid = !zone.is_empty() && zone.bytes().all(is_zone);
            is_valid.then(|| address.parse().ok()).flatten()
        }
    }
}

/// The IPv4 address in `::ffff:192.0.2.1` (RFC 4291) and `64:ff9b::192.0.2.1` (NAT64, RFC 6052); any
/// other address as it is.
fn unmap_ipv4(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let [prefix @ .., high, low] = v6.segments();
    match prefix {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => {
            IpAddr::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => address,
    }
}

/// An address without the port that some proxies and web servers add: `192.0.2.1:4711`,
/// `[2001:db8::1]:4711`.
fn without_port(entry: &[u8]) -> &[u8] {
    let is_port = |rest: &[u8]| match rest {
        [] => true,
        [b':', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if let [b'[', rest @ ..] = entry {
        let end = rest.iter().position(|byte| *byte == b']');
        let parts = end.and_then(|end| rest.split_at_checked(end));
        return match parts {
            Some((address, [b']', port @ ..])) if is_port(port) => address,
            _ => entry,
        };
    }
    let colon = entry.iter().position(|byte| *byte == b':');
    match colon.and_then(|at| entry.split_at_checked(at)) {
        Some((address, port)) if is_port(port) && is_dotted(address) => address,
        _ => entry,
    }
}

fn is_dotted(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// A mask of the first bits, at most 32.
fn ipv4_mask(bits: u32) -> u32 {
    u32::MAX.checked_shl(32 - bits.min(32)).unwrap_or(0)
}

/// A mask of the first bits, at most 128.
pub fn ipv6_mask(bits: u32) -> u128 {
    u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn network_keeps_the_first_bits() {
        let all = b"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        assert_eq!(network(all, 57, 32).unwrap(), "ffff:ffff:ffff:ff80::/57");
        assert_eq!(network(all, 1, 32).unwrap(), "8000::/1");
        assert_eq!(network(b"203.0.113.77", 64, 24).unwrap(), "203.0.113.0/24");
        assert_eq!(network(b"203.0.113.77", 64, 1).unwrap(), "128.0.0.0/1");
    }

    #[test]
    fn mistaken_network_is_none() {
        for mistake in
            ["", "/8", "10/8", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/-1", "10.0.0.0/33", "::/129"]
                .into_iter()
                .chain([
                    "10.0.0.0/8/8",
                    "10.0.0.0/+8",
                    "::ffff:10.0.0.0/95",
                    "64:ff9b::/96",
                    "localhost",
                ])
        {
            assert_eq!(Network::parse(mistake.as_bytes()), None, "{mistake}");
        }
    }

    #[test]
    fn ipv4_network_may_be_written_as_ipv6() {
        let network = Network::parse(b"::ffff:10.0.0.0/104").unwrap();
        assert_eq!(network, Network::parse(b"10.0.0.0/8").unwrap());
        assert!(network.contains(parse(b"10.9.9.9").unwrap()));
        assert!(!network.contains(parse(b"11.0.0.1").unwrap()));
    }

    #[test]
    fn private_addresses_are_those_of_no_visitor_from_the_internet() {
        for private in
            ["10.0.0.5", "172.31.0.1", "192.168.1.1:4711", "127.0.0.1", "169.254.1.1", "100.64.0.1"]
                .into_iter()
                .chain([
                    "::1",
                    "::/64",
                    "fd00:1::/64",
                    "fe80::1%eth0",
                    "[fd00::1]:80",
                    "::ffff:10.0.0.5",
                ])
        {
            assert!(is_private(private.as_bytes()), "{private}");
        }
        for public in ["192.0.2.1", "172.32.0.1", "100.128.0.1", "2001:db8::/64", "", "unknown"] {
            assert!(!is_private(public.as_bytes()), "{public}");
        }
    }

    #[test]
    fn everything_is_in_the_network_of_no_bits() {
        let network = Network::parse(b"0.0.0.0/0").unwrap();
        assert!(network.contains(parse(b"255.1.2.3").unwrap()));
        assert!(!network.contains(parse(b"::1").unwrap()), "but of the other family");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            remote: Vec<u8>, forwarded: Vec<u8>, proxy in "[0-9a-funix:./%]{0,20}",
        ) {
            let proxies: Vec<_> = Proxy::parse(proxy.as_bytes()).into_iter().collect();
            let _ = (network(&remote, 64, 32), client(Some(&remote), &forwarded, &proxies));
        }

        #[test]
        fn address_is_in_its_own_network(bits in 1u32..=128, address: u128) {
            let address = Ipv6Addr::from_bits(address);
            prop_assume!(unmap_ipv4(address.into()).is_ipv6());
            let found = network(address.to_string().as_bytes(), bits, 32).unwrap();
            prop_assume!(unmap_ipv4(Ipv6Addr::from_bits(address.to_bits() & ipv6_mask(bits)).into()).is_ipv6());
            let found = Network::parse(found.as_bytes()).unwrap();
            prop_assert!(found.contains(address.into()));
        }
    }
}
