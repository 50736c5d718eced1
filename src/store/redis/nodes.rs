//! Finds the server to ask: the single one, the master that sentinels name, or the node of a cluster that
//! serves a key.

use super::link::{RedisLink, command};
use super::slots::{SLOTS, slot};
use crate::dsn::{Address, RedisTarget, Topology};
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::pause::Moment;
use crate::net::round_trip::RoundTrip;
use redis::Value;
use rustls::ClientConfig;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

/// A range of slots that one node serves.
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
    links: HashMap<Address, RedisLink>,
    /// The master, as the sentinels named it last.
    master: Option<Address>,
    /// The ranges of slots of the cluster. The first range that holds a slot counts.
    map: Vec<Range>,
    /// Which sentinel or node is asked first, of those that may know the server of a key: the one asked first may be cut off with an old
    /// master, and know no other.
    first: usize,
    /// How long a trip to any of the servers takes.
    pub round_trip: Rc<RoundTrip>,
}

impl Range {
    fn contains(&self, slot: u16) -> bool {
        (self.first..=self.last).contains(&slot)
    }
}

impl Nodes {
    fn node_of(&self, slot: u16) -> Option<&Address> {
        self.map.iter().find(|range| range.contains(slot)).map(|range| &range.node)
    }

    /// Finds the server of the key `name`.
    pub fn find(
        &mut self,
        redis: &RedisTarget,
        tls: Option<&Arc<ClientConfig>>,
        name: &[u8],
        budget: &mut Budget,
    ) -> Result<Address, (Address, Failure)> {
        match &redis.topology {
            Topology::Single(address) => Ok(address.clone()),
            Topology::Sentinel { sentinels, master, password } => match self.connected_master() {
                Some(address) => Ok(address),
                None => {
                    let ask = |address: &Address, deadline| {
                        let mut link =
                            RedisLink::open_sentinel(address, password.as_ref(), tls, deadline)?;
                        let name = master.as_bytes();
                        let question = command("SENTINEL", &[b"get-master-addr-by-name", name]);
                        parse_master(&link.call(&question, deadline)?).ok_or_else(|| {
                            Failure::Down("the sentinel does not know the master".to_owned())
                        })
                    };
                    let found = first_that_answers(&rotated(sentinels, self.first), budget, ask)?;
                    self.master = Some(found.clone());
                    Ok(found)
                }
            },
            Topology::Cluster(seeds) => {
                let slot = slot(name);
                let known = self.node_of(slot).cloned();
                if !known.is_some_and(|node| self.is_trusted(&node)) {
                    self.update_map(redis, seeds, tls, budget)?;
                }
                self.node_of(slot).cloned().ok_or_else(|| {
                    let reason = format!("no node of the cluster serves slot {slot}");
                    let seed = seeds.first().cloned();
                    (seed.unwrap_or(Address::Unix("".into())), Failure::Down(reason))
                })
            }
        }
    }

    /// The master, if there is a reusable connection to it. Otherwise the sentinels are asked again: another
    /// server may have become the master, while the old one still believes to be it.
    fn connected_master(&mut self) -> Option<Address> {
        let master = self.master.take()?;
        self.master = self.has_link(&master).then_some(master);
        self.master.clone()
    }

    /// Whether the map is still trusted about a node. If the connection to the node is gone, another node
    /// may serve its slots.
    fn is_trusted(&mut self, node: &Address) -> bool {
        !self.links.contains_key(node) || self.has_link(node)
    }

    /// Whether there is a reusable connection to `address`. One that is not reusable is closed.
    fn has_link(&mut self, address: &Address) -> bool {
        let is_reusable = self.links.get_mut(address).is_some_and(RedisLink::is_reusable);
        if !is_reusable {
            self.links.remove(address);
        }
        is_reusable
    }

    /// Closes the connections that cannot be used any more.
    pub fn keep_reusable_links(&mut self) {
        self.links.retain(|_, link| link.is_reusable());
    }

    /// The connection to `address`, opened if there is no reusable one, and whether there was one.
    pub fn link_to(
        &mut self,
        address: &Address,
        redis: &RedisTarget,
        tls: Option<&Arc<ClientConfig>>,
        budget: &mut Budget,
    ) -> Result<(&mut RedisLink, bool), Failure> {
        // Closes one that is not reusable.
        self.has_link(address);
        match self.links.entry(address.clone()) {
            Entry::Occupied(link) => Ok((link.into_mut(), true)),
            Entry::Vacant(place) => {
                let by = budget.connect_by();
                let link = RedisLink::open(address, redis, tls, by, &self.round_trip)?;
                Ok((place.insert(link), false))
            }
        }
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.links.values().filter(|link| link.is_own()).count()
    }

    /// Closes the connection to `address`.
    pub fn close(&mut self, address: &Address) {
        self.links.remove(address);
    }

    /// Forgets the master and the cluster's map, so that the next call asks for them again.
    pub fn forget(&mut self) {
        self.master = None;
        self.map.clear();
    }

    /// Forgets the master and the cluster's map, and lets the next call ask another sentinel or node for them first.
    pub fn look_elsewhere(&mut self) {
        self.forget();
        self.first = self.first.wrapping_add(1);
    }

    /// Notes that a slot has moved to another node.
    pub fn moved(&mut self, slot: u16, to: Address) {
        // The redirection says nothing about other slots, so the rest of the map stays.
        self.map.retain(|range| !range.contains(slot));
        self.map.insert(0, Range { first: slot, last: slot, node: to });
    }

    /// Asks a node for the cluster's map: first the nodes with a connection, then the seeds.
    fn update_map(
        &mut self,
        redis: &RedisTarget,
        seeds: &[Address],
        tls: Option<&Arc<ClientConfig>>,
        budget: &mut Budget,
    ) -> Result<(), (Address, Failure)> {
        let mut candidates: Vec<Address> = self.links.keys().cloned().collect();
        candidates.extend(seeds.iter().filter(|seed| !self.links.contains_key(seed)).cloned());
        let candidates = rotated(&candidates, self.first);
        let question = command("CLUSTER", &[b"SLOTS"]);
        let (links, round_trip) = (&mut self.links, &self.round_trip);
        self.map = first_that_answers(&candidates, budget, |address, deadline| {
            let mut link = match links.remove(address).and_then(RedisLink::if_reusable) {
                Some(link) => link,
                None => RedisLink::open(address, redis, tls, deadline, round_trip)?,
            };
            let map = parse_map(&link.call(&question, deadline)?, address);
            // The node may have been removed from the cluster; the others may know the map.
            if map.is_empty() {
                return Err(Failure::Down("it knows no node of the cluster".to_owned()));
            }
            links.insert(address.clone(), link);
            Ok(map)
        })?;
        // The map may call a seed by another name. One connection to it is enough.
        let map = &self.map;
        self.links.retain(|address, _| map.iter().any(|range| range.node == *address));
        Ok(())
    }
}

/// The servers in their order, beginning with another one than the first.
fn rotated(servers: &[Address], by: usize) -> Vec<Address> {
    let mut servers = servers.to_vec();
    let count = servers.len().max(1);
    servers.rotate_left(by % count);
    servers
}

/// Asks one server after the other, each with an equal share of the time that is left.
fn first_that_answers<T>(
    candidates: &[Address],
    budget: &mut Budget,
    mut ask: impl FnMut(&Address, Moment) -> Result<T, Failure>,
) -> Result<T, (Address, Failure)> {
    let mut last = (Address::Unix("".into()), Failure::Down("no server is named".to_owned()));
    for (i, address) in candidates.iter().enumerate() {
        match ask(address, budget.connect_one_of_by(candidates.len() - i)) {
            Ok(answer) => return Ok(answer),
            // A local failure does not replace one that is a server's fault.
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

/// Parses the answer to `SENTINEL get-master-addr-by-name`: host and port.
pub fn parse_master(value: &Value) -> Option<Address> {
    let Value::Array(parts) = value else { return None };
    let [host, port] = parts.as_slice() else { return None };
    Address::tcp(&text(host)?, text(port)?.parse().ok()?)
}

/// Parses the answer to `CLUSTER SLOTS`: first slot, last slot, the master (host and port), replicas.
/// `asked` is the node that answered.
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

/// The address of a node, as the node that was `asked` reports it. None if no DSN could name it, for the
/// address appears in messages.
fn node(host: &str, port: u16, asked: &Address) -> Option<Address> {
    match (host, asked) {
        // A node that does not know its own address is at the address that was asked.
        ("" | "?", Address::Tcp { host, .. }) => Address::tcp(host, port),
        _ => Address::tcp(host, port),
    }
}

/// Parses the slot and node of a redirection: `MOVED 3999 127.0.0.1:6381`, `ASK 3999 127.0.0.1:6381`.
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
    fn invalid_addresses_and_ranges_are_ignored() {
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
    fn another_node_is_asked_first_after_a_look_elsewhere() {
        let servers = [tcp("a", 1), tcp("b", 2)];
        let mut nodes = Nodes { master: Some(tcp("a", 1)), ..Nodes::default() };
        let first = |nodes: &Nodes| rotated(&servers, nodes.first).first().cloned();
        assert_eq!(first(&nodes), Some(tcp("a", 1)));
        nodes.look_elsewhere();
        assert_eq!((nodes.master.as_ref(), first(&nodes)), (None, Some(tcp("b", 2))));
        nodes.look_elsewhere();
        assert_eq!(first(&nodes), Some(tcp("a", 1)));
    }

    #[test]
    fn redirection_corrects_one_slot_of_the_map() {
        let answer =
            Value::Array(vec![entry(0, 99, b"a", 1), entry(100, 16383, b"", 2), Value::Nil]);
        let mut nodes = Nodes { map: parse_map(&answer, &tcp("seed", 9)), ..Nodes::default() };
        assert_eq!(nodes.node_of(99), Some(&tcp("a", 1)));
        assert_eq!(nodes.node_of(100), Some(&tcp("seed", 2)));
        nodes.moved(100, tcp("b", 3));
        assert_eq!(nodes.node_of(100), Some(&tcp("b", 3)));
        assert_eq!(nodes.node_of(101), None, "is asked for anew");
    }
}
