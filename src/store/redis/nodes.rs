//! Which server to ask: the one there is, the master that sentinels name, or the node of a
//! cluster that a key belongs to.

use super::link::{Link, command};
use crate::dsn::{Address, Redis, Topology};
use crate::store::net::budget::Budget;
use crate::store::net::failure::Failure;
use redis::Value;
use rustls::ClientConfig;
use std::collections::HashMap;
use std::sync::Arc;

/// The slots of a cluster.
const SLOTS: u16 = 16384;
const CRC: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_XMODEM);

/// A run of slots that one node serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The first slot.
    pub first: u16,
    /// The last slot.
    pub last: u16,
    /// The node.
    pub node: Address,
}

/// The connections of one process, one for each server it had to ask.
#[derive(Default)]
pub struct Nodes {
    links: HashMap<Address, Link>,
    /// The master that the sentinels named last.
    master: Option<Address>,
    /// The cluster's map, by first slot.
    map: Vec<Range>,
}

/// A server, and how its address was come by.
pub struct Found {
    /// The server.
    pub address: Address,
    /// Whether the connection to it has stood before this call.
    pub reused: bool,
}

/// What a breaker counts as one server for a key: one of sixteen runs of slots. Not the node that
/// serves it, for that is not known to who comes new, and another may take it over.
pub fn circuit(name: &[u8]) -> u64 {
    u64::from(slot(name) / (SLOTS / 16))
}

/// The slot of a key. It holds no braces: what has them is hashed.
pub fn slot(name: &[u8]) -> u16 {
    CRC.checksum(name) % SLOTS
}

impl Nodes {
    fn range(&self, slot: u16) -> Option<&Range> {
        self.map.iter().find(|range| (range.first..=range.last).contains(&slot))
    }

    /// The link to the server for `name`, opened if need be.
    pub fn find(
        &mut self,
        redis: &Redis,
        tls: Option<&Arc<ClientConfig>>,
        name: &[u8],
        budget: &mut Budget,
    ) -> Result<Found, (Address, Failure)> {
        let address = match &redis.topology {
            Topology::Single(address) => address.clone(),
            Topology::Sentinel { sentinels, master, password } => match self.linked_master() {
                Some(address) => address,
                None => {
                    let ask = |address: &Address, deadline| {
                        let mut link =
                            Link::open_sentinel(address, password.as_ref(), tls, deadline)?;
                        let name = master.as_bytes();
                        let question = command("SENTINEL", &[b"get-master-addr-by-name", name]);
                        parse_master(&link.call(&question, deadline)?).ok_or_else(|| {
                            Failure::Down("the sentinel does not know the master".to_owned())
                        })
                    };
                    let found = first_that_answers(sentinels, budget, ask)?;
                    self.master = Some(found.clone());
                    found
                }
            },
            Topology::Cluster(seeds) => {
                let slot = slot(name);
                if !self
                    .range(slot)
                    .map(|range| range.node.clone())
                    .is_some_and(|it| self.is_trusted(&it))
                {
                    self.look_at_cluster(redis, seeds, tls, budget)?;
                }
                match self.range(slot) {
                    Some(range) => range.node.clone(),
                    None => {
                        let reason = format!("no node of the cluster serves slot {slot}");
                        let seed = seeds.first().cloned();
                        let seed = seed.unwrap_or(Address::Unix("".into()));
                        return Err((seed, Failure::Down(reason)));
                    }
                }
            }
        };
        let reused = self.link_to(&address, redis, tls, budget);
        reused.map(|reused| Found { address: address.clone(), reused }).map_err(|f| (address, f))
    }

    /// The master, while there is a good link to it. Else the sentinels are asked anew: another server may
    /// have become the master, and the old one may still take itself for it.
    fn linked_master(&mut self) -> Option<Address> {
        let master = self.master.take()?;
        self.master = self.has_link(&master).then_some(master);
        self.master.clone()
    }

    /// Whether a node may be asked by the map as it is known: not if its link is gone, for then another
    /// may serve its slots.
    fn is_trusted(&mut self, node: &Address) -> bool {
        !self.links.contains_key(node) || self.has_link(node)
    }

    /// Whether there is a good link to `address`. One that is not good is closed.
    fn has_link(&mut self, address: &Address) -> bool {
        let is_reusable = self.links.get_mut(address).is_some_and(Link::is_reusable);
        if !is_reusable {
            self.links.remove(address);
        }
        is_reusable
    }

    /// Makes sure that there is a good link to `address`; whether there was one.
    pub fn link_to(
        &mut self,
        address: &Address,
        redis: &Redis,
        tls: Option<&Arc<ClientConfig>>,
        budget: &mut Budget,
    ) -> Result<bool, Failure> {
        if self.has_link(address) {
            return Ok(true);
        }
        let link = Link::open(address, redis, tls, budget.connect_by())?;
        self.links.insert(address.clone(), link);
        Ok(false)
    }

    /// The link to a server that was found.
    pub fn link(&mut self, address: &Address) -> Option<&mut Link> {
        self.links.get_mut(address)
    }

    /// How many connections stand.
    pub fn connections(&self) -> usize {
        self.links.len()
    }

    /// Closes the connection to `address`.
    pub fn close(&mut self, address: &Address) {
        self.links.remove(address);
    }

    /// Has the master, or the cluster's map, be asked for anew.
    pub fn forget(&mut self) {
        self.master = None;
        self.map.clear();
    }

    /// Notes that a slot has moved to another node.
    pub fn moved(&mut self, slot: u16, to: Address) {
        // The rest of the map may be as old; but one answer tells of one slot only.
        self.map.retain(|range| !(range.first..=range.last).contains(&slot));
        self.map.insert(0, Range { first: slot, last: slot, node: to });
    }

    /// Asks a node for the cluster's map: one that has a connection, or one of the seeds.
    fn look_at_cluster(
        &mut self,
        redis: &Redis,
        seeds: &[Address],
        tls: Option<&Arc<ClientConfig>>,
        budget: &mut Budget,
    ) -> Result<(), (Address, Failure)> {
        let mut candidates: Vec<Address> = self.links.keys().cloned().collect();
        candidates.extend(seeds.iter().filter(|seed| !self.links.contains_key(seed)).cloned());
        let question = command("CLUSTER", &[b"SLOTS"]);
        let links = &mut self.links;
        self.map = first_that_answers(&candidates, budget, |address, deadline| {
            let mut link = match links.remove(address).and_then(Link::if_good) {
                Some(link) => link,
                None => Link::open(address, redis, tls, deadline)?,
            };
            let map = parse_map(&link.call(&question, deadline)?, address);
            // Taken out of the cluster, say; the others may know it.
            if map.is_empty() {
                return Err(Failure::Down("it knows no node of the cluster".to_owned()));
            }
            links.insert(address.clone(), link);
            Ok(map)
        })?;
        // A seed may go by another name in the map: it needs no second connection.
        let map = &self.map;
        self.links.retain(|address, _| map.iter().any(|range| range.node == *address));
        Ok(())
    }
}

/// Asks one server after the other, each with its share of the time.
fn first_that_answers<T>(
    candidates: &[Address],
    budget: &mut Budget,
    mut ask: impl FnMut(&Address, std::time::Instant) -> Result<T, Failure>,
) -> Result<T, (Address, Failure)> {
    let mut last = (Address::Unix("".into()), Failure::Down("no server is named".to_owned()));
    for (i, address) in candidates.iter().enumerate() {
        match ask(address, budget.connect_one_of_by(candidates.len() - i)) {
            Ok(answer) => return Ok(answer),
            // A server that this process cannot reach says nothing of the others.
            Err(Failure::Local(_)) if i > 0 && !matches!(last.1, Failure::Local(_)) => {}
            Err(failure) => last = (address.clone(), failure),
        }
    }
    Err(last)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    }
}

/// The answer to `SENTINEL get-master-addr-by-name`: host and port.
pub fn parse_master(value: &Value) -> Option<Address> {
    let Value::Array(parts) = value else { return None };
    let [host, port] = parts.as_slice() else { return None };
    Address::tcp(&text(host)?, text(port)?.parse().ok()?)
}

/// The answer to `CLUSTER SLOTS`: first slot, last slot, the master (host and port), replicas.
pub fn parse_map(value: &Value, asked: &Address) -> Vec<Range> {
    let Value::Array(ranges) = value else { return Vec::new() };
    let range = |value: &Value| {
        let Value::Array(parts) = value else { return None };
        let [Value::Int(first), Value::Int(last), Value::Array(master), ..] = parts.as_slice()
        else {
            return None;
        };
        let [host, Value::Int(port), ..] = master.as_slice() else { return None };
        let host = match host {
            Value::Nil => String::new(),
            host => text(host)?,
        };
        let node = node(&host, u16::try_from(*port).ok()?, asked)?;
        let (first, last) = (u16::try_from(*first).ok()?, u16::try_from(*last).ok()?);
        (first <= last && last < SLOTS).then_some(Range { first, last, node })
    };
    ranges.iter().filter_map(range).collect()
}

/// A node by what the one that was `asked` calls it, which has messages and connections made of it: a
/// name that no DSN could have is none.
fn node(host: &str, port: u16, asked: &Address) -> Option<Address> {
    match (host, asked) {
        // One whose address is not known is looked for where the answer came from.
        ("" | "?", Address::Tcp { host, .. }) => Address::tcp(host, port),
        _ => Address::tcp(host, port),
    }
}

/// Where a redirection leads: `MOVED 3999 127.0.0.1:6381`, `ASK 3999 127.0.0.1:6381`.
pub fn parse_redirection(detail: &str, asked: &Address) -> Option<(u16, Address)> {
    let (slot, to) = detail.split_once(' ')?;
    let (host, port) = to.rsplit_once(':')?;
    let slot = slot.parse().ok().filter(|slot| *slot < SLOTS)?;
    Some((slot, node(host, port.parse().ok()?, asked)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp { host: host.into(), port }
    }

    fn entry(first: i64, last: i64, host: &[u8], port: i64) -> Value {
        let node = vec![Value::BulkString(host.into()), Value::Int(port)];
        Value::Array(vec![Value::Int(first), Value::Int(last), Value::Array(node)])
    }

    #[test]
    fn slots_are_the_clusters() {
        // From the cluster specification, and CLUSTER KEYSLOT.
        assert_eq!(CRC.checksum(b"123456789"), 0x31c3);
        assert_eq!(slot(b"foo"), 12182);
        assert_eq!(slot(b"tb:192.0.2.1"), CRC.checksum(b"tb:192.0.2.1") % 16384);
    }

    #[test]
    fn redirections_name_a_slot_and_a_node() {
        let asked = tcp("10.0.0.1", 1);
        assert_eq!(
            parse_redirection("3999 127.0.0.1:6381", &asked),
            Some((3999, tcp("127.0.0.1", 6381)))
        );
        assert_eq!(parse_redirection("3999 :6381", &asked), Some((3999, tcp("10.0.0.1", 6381))));
        assert_eq!(parse_redirection("3999 ::1:6381", &asked), Some((3999, tcp("::1", 6381))));
        for garbage in ["garbage", "16384 a:1", "3999 a:0", "3999 a b:1", "3999 \u{202e}a:1"] {
            assert_eq!(parse_redirection(garbage, &asked), None, "{garbage}");
        }
        assert_eq!(
            parse_redirection("3999 :6381", &Address::Unix("/s".into())),
            None,
            "no host at all"
        );
    }

    #[test]
    fn what_is_no_address_or_no_run_of_slots_is_not_used() {
        let read = |first, last, host, port| {
            parse_map(&Value::Array(vec![entry(first, last, host, port)]), &tcp("seed", 9))
        };
        let master = |host: &[u8], port: &[u8]| {
            let parts = [host, port].map(|part| Value::BulkString(part.into()));
            parse_master(&Value::Array(parts.into()))
        };
        assert_eq!(read(0, 16383, b"a", 1).len(), 1);
        assert_eq!(master(b"a", b"1"), Some(tcp("a", 1)));
        for host in [&b"a b"[..], b"a\x1b[2J", b"a\0", b"a\xff", &[b'a'; 256]] {
            assert_eq!(read(0, 1, host, 1), []);
            assert_eq!(master(host, b"1"), None);
        }
        assert_eq!(master(b"", b"1"), None);
        for (first, last, port) in [(1, 0, 1), (0, 16384, 1), (0, 1, 0), (-1, 1, 1), (0, 1, 65536)]
        {
            assert_eq!(read(first, last, b"a", port), []);
        }
    }

    #[test]
    fn a_map_is_read_and_corrected() {
        let answer =
            Value::Array(vec![entry(0, 99, b"a", 1), entry(100, 16383, b"", 2), Value::Nil]);
        let mut nodes = Nodes { map: parse_map(&answer, &tcp("seed", 9)), ..Nodes::default() };
        assert_eq!(nodes.range(99).unwrap().node, tcp("a", 1));
        assert_eq!(nodes.range(100).unwrap().node, tcp("seed", 2));
        nodes.moved(100, tcp("b", 3));
        assert_eq!(nodes.range(100).unwrap().node, tcp("b", 3));
        assert_eq!(nodes.range(101), None, "is asked for anew");
    }
}
