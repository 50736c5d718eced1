//! A list of clients that a limit treats differently, and how it treats each.
//!
//! A worker pays 32 bytes for each client, and one or two binary searches for each `limiter()`, then a step for each network around the one
//! that was found. Names are kept as hashes, because their texts may be long; networks are kept as they are.

use super::mistake::{FileError, mistake};
use crate::address::{Network, ipv6_mask};
use crate::dsn::sanitize;
use crate::identifier::MAX_IDENTIFIER;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// The most clients of a list.
pub const MAX_CLIENTS: usize = 100_000;

/// How a limit treats a client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Terms {
    /// The client is not limited.
    Exempt,
    /// The client has other numbers.
    Numbers {
        /// Tokens, hits or permits.
        count: i64,
        /// In so many seconds. None: in the limit's own interval.
        interval: Option<f64>,
    },
}

/// A line about one client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientLine {
    /// Its number, from 1.
    pub line: u32,
    /// How the client is treated.
    pub terms: Terms,
}

/// How closely a line names a client: a name before any network, and a small network before a large one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// A network with so many bits.
    Network(u8),
    /// The client to the letter.
    Name,
}

/// A list of clients and networks.
pub struct Clients {
    /// Sorted by hash.
    names: Vec<Name>,
    ipv4: Networks,
    ipv6: Networks,
    /// The intervals in the lines.
    intervals: Vec<f64>,
    /// The lines with the smallest and the largest number, for each interval and for the limit's own.
    extremes: Vec<ClientLine>,
    /// The keys of the hashes. They are random, so that no client can find a name that has the hash of another.
    hash_keys: [RandomState; 2],
}

/// A client that is listed to the letter.
struct Name {
    /// 128 bits: two names do not share them.
    hash: [u64; 2],
    entry: Entry,
}

/// Networks in the order of their first addresses, a larger one before those in it.
#[derive(Default)]
struct Networks(Vec<ListedNetwork>);

/// A network in a list.
struct ListedNetwork {
    prefix: u128,
    entry: Entry,
    /// The index of the smallest network around this one; its own index if there is none.
    parent: u32,
}

/// A line, packed.
#[derive(Clone, Copy)]
struct Entry {
    line: u32,
    /// [`EXEMPT`], or a number.
    count: u32,
    /// An index into the intervals, or [`OWN_INTERVAL`].
    interval: u16,
    /// The length of a network's prefix.
    bits: u8,
}

const EXEMPT: u32 = u32::MAX;
const OWN_INTERVAL: u16 = u16::MAX;

const _: () = assert!(size_of::<Name>() <= 32 && size_of::<ListedNetwork>() <= 32);

/// A list of clients while it is read.
#[derive(Default)]
pub struct ClientList {
    names: Vec<Name>,
    ipv4: Vec<ListedNetwork>,
    ipv6: Vec<ListedNetwork>,
    intervals: Vec<f64>,
    interval_indices: HashMap<u64, u16>,
    hash_keys: [RandomState; 2],
}

impl ClientList {
    /// Adds an address, a network, or a client to the letter. Text that looks like a network and is none is refused, unless
    /// it is `quoted`.
    ///
    /// # Errors
    ///
    /// A text that is no client, and more than [`MAX_CLIENTS`].
    pub fn add(
        &mut self,
        line: u32,
        client: &str,
        quoted: bool,
        terms: Terms,
    ) -> Result<(), FileError> {
        if self.names.len() + self.ipv4.len() + self.ipv6.len() == MAX_CLIENTS {
            return Err(mistake(line, format!("must have at most {MAX_CLIENTS} clients")));
        }
        match parse_network(client, quoted).map_err(|what| mistake(line, what))? {
            Some(network) => {
                let (bits, prefix) = network.prefix();
                let entry = self.pack(line, bits as u8, terms)?;
                let listed = ListedNetwork { prefix, entry, parent: 0 };
                if network.is_ipv4() { &mut self.ipv4 } else { &mut self.ipv6 }.push(listed);
            }
            None if (1..=MAX_IDENTIFIER).contains(&client.len()) => {
                let entry = self.pack(line, 0, terms)?;
                self.names.push(Name { hash: hash(&self.hash_keys, client.as_bytes()), entry });
            }
            None => {
                let message = format!("a client must have 1 to {MAX_IDENTIFIER} bytes");
                return Err(mistake(line, message));
            }
        }
        Ok(())
    }

    fn pack(&mut self, line: u32, bits: u8, terms: Terms) -> Result<Entry, FileError> {
        let (count, interval) = match terms {
            Terms::Exempt => (EXEMPT, OWN_INTERVAL),
            Terms::Numbers { count, interval } => {
                // Every limit refuses a larger number.
                let count = u32::try_from(count).unwrap_or(EXEMPT - 1).min(EXEMPT - 1);
                (count, interval.map_or(Ok(OWN_INTERVAL), |it| self.interval_index(line, it))?)
            }
        };
        Ok(Entry { line, count, interval, bits })
    }

    fn interval_index(&mut self, line: u32, interval: f64) -> Result<u16, FileError> {
        if let Some(index) = self.interval_indices.get(&interval.to_bits()) {
            return Ok(*index);
        }
        let index = u16::try_from(self.intervals.len()).ok().filter(|it| *it < OWN_INTERVAL);
        let message = || mistake(line, format!("must have at most {OWN_INTERVAL} intervals"));
        let index = index.ok_or_else(message)?;
        self.intervals.push(interval);
        self.interval_indices.insert(interval.to_bits(), index);
        Ok(index)
    }

    /// Sorts the list.
    ///
    /// # Errors
    ///
    /// A client that is listed twice.
    pub fn finish(self) -> Result<Clients, FileError> {
        let Self { mut names, ipv4, ipv6, mut intervals, hash_keys, .. } = self;
        names.sort_unstable_by_key(|name| (name.hash, name.entry.line));
        let duplicates = names.windows(2).filter_map(|pair| match pair {
            [first, second] if first.hash == second.hash => Some((first.entry, second.entry)),
            _ => None,
        });
        refuse_duplicates(duplicates)?;
        let (ipv4, ipv6) = (Networks::sort(ipv4)?, Networks::sort(ipv6)?);
        names.shrink_to_fit();
        intervals.shrink_to_fit();
        let mut clients = Clients { names, ipv4, ipv6, intervals, extremes: Vec::new(), hash_keys };
        clients.extremes = clients.find_extremes();
        Ok(clients)
    }
}

impl Clients {
    /// Finds the line about a client: the client to the letter, else the smallest network that holds all of its addresses.
    pub fn find(&self, client: &[u8]) -> Option<(Precision, ClientLine)> {
        let own = hash(&self.hash_keys, client);
        if let Ok(index) = self.names.binary_search_by_key(&own, |name| name.hash) {
            return Some((Precision::Name, self.unpack(self.names.get(index)?.entry)));
        }
        let network = Network::of_client(client)?;
        let networks = if network.is_ipv4() { &self.ipv4 } else { &self.ipv6 };
        let entry = networks.find(network.prefix())?;
        Some((Precision::Network(entry.bits), self.unpack(entry)))
    }

    /// The lines with the smallest and the largest number, for each interval: if a limit can have these numbers, it can have all.
    pub fn extremes(&self) -> &[ClientLine] {
        &self.extremes
    }

    fn find_extremes(&self) -> Vec<ClientLine> {
        let mut found: HashMap<u16, [Entry; 2]> = HashMap::new();
        let networks = self.ipv4.0.iter().chain(&self.ipv6.0).map(|listed| listed.entry);
        let entries = self.names.iter().map(|name| name.entry).chain(networks);
        for entry in entries.filter(|entry| entry.count != EXEMPT) {
            let [least, most] = found.entry(entry.interval).or_insert([entry; 2]);
            let order = |entry: &Entry| (entry.count, entry.line);
            if order(&entry) < order(least) {
                *least = entry;
            }
            if entry.count > most.count {
                *most = entry;
            }
        }
        found.into_values().flatten().map(|entry| self.unpack(entry)).collect()
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.names.len() + self.ipv4.0.len() + self.ipv6.0.len()
    }

    fn unpack(&self, entry: Entry) -> ClientLine {
        let interval = self.intervals.get(usize::from(entry.interval)).copied();
        let terms = match entry.count {
            EXEMPT => Terms::Exempt,
            count => Terms::Numbers { count: count.into(), interval },
        };
        ClientLine { line: entry.line, terms }
    }
}

impl Networks {
    fn sort(mut listed: Vec<ListedNetwork>) -> Result<Self, FileError> {
        listed.sort_unstable_by_key(|it| (it.prefix, it.entry.bits, it.entry.line));
        let duplicates = listed.windows(2).filter_map(|pair| match pair {
            [a, b] if a.prefix == b.prefix && a.entry.bits == b.entry.bits => {
                Some((a.entry, b.entry))
            }
            _ => None,
        });
        refuse_duplicates(duplicates)?;
        // The index, the prefix and its length of each network around the last one, the smallest network last.
        let mut enclosing: Vec<(u32, u128, u8)> = Vec::new();
        for (index, network) in (0..).zip(&mut listed) {
            let prefix = network.prefix;
            while enclosing.pop_if(|(_, outer, bits)| !holds(*outer, *bits, prefix)).is_some() {}
            network.parent = enclosing.last().map_or(index, |(outer, ..)| *outer);
            enclosing.push((index, prefix, network.entry.bits));
        }
        listed.shrink_to_fit();
        Ok(Self(listed))
    }

    /// Finds the smallest network around another one.
    fn find(&self, (bits, prefix): (u32, u128)) -> Option<Entry> {
        let begins_later = |it: &ListedNetwork| (it.prefix, it.entry.bits.into()) > (prefix, bits);
        // The last network that begins no later. Every network around the client is around this one, or is it.
        let mut index = self.0.partition_point(|it| !begins_later(it)).checked_sub(1)?;
        loop {
            let ListedNetwork { prefix: outer, entry, parent } = self.0.get(index)?;
            if u32::from(entry.bits) <= bits && holds(*outer, entry.bits, prefix) {
                return Some(*entry);
            }
            if *parent as usize == index {
                return None;
            }
            index = *parent as usize;
        }
    }
}

/// Whether a network of so many bits holds the addresses that begin with `prefix`.
fn holds(network: u128, bits: u8, prefix: u128) -> bool {
    (network ^ prefix) & ipv6_mask(bits.into()) == 0
}

fn hash(keys: &[RandomState; 2], client: &[u8]) -> [u64; 2] {
    keys.each_ref().map(|key| key.hash_one(client))
}

fn refuse_duplicates(duplicates: impl Iterator<Item = (Entry, Entry)>) -> Result<(), FileError> {
    match duplicates.min_by_key(|(_, second)| second.line) {
        None => Ok(()),
        Some((Entry { line, .. }, second)) if line == second.line => {
            Err(mistake(line, "names a client twice"))
        }
        Some((Entry { line, .. }, second)) => {
            Err(mistake(second.line, format!("this client is already in line {line}")))
        }
    }
}

/// Reads an address or a network. None for any other client.
fn parse_network(client: &str, quoted: bool) -> Result<Option<Network>, String> {
    let shown = sanitize(client);
    match Network::parse(client.as_bytes()) {
        Some(network) => match network.if_written_otherwise() {
            Some(right) => Err(format!("{shown} has bits beyond its length: write {right}")),
            None => Ok(Some(network)),
        },
        None if !quoted && looks_like_network(client) => Err(format!(
            "{shown} is not an address or network: write one like 10.0.0.0/8 or 2001:db8::/32, or quote it in a file of clients if it is another client"
        )),
        None => Ok(None),
    }
}

/// Whether a text is probably meant as an address or a network: it has only their characters, and their form or that of a list, a range, a
/// mask or a pattern; or it is a part of an IPv4 address.
fn looks_like_network(text: &str) -> bool {
    let dots = text.matches('.').count();
    let has_parts = dots > 0 || text.contains(':');
    let has_their_characters = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || b":./*-[]%\\".contains(&byte));
    let has_their_form = (dots >= 3 && !text.contains(':')) || text.matches(':').count() >= 2;
    let is_extended = text.contains(['/', '*', '[', '\\']);
    // Such as 10/8, or what a space before it has torn off.
    let is_short = text.split_once('/').is_some_and(|(address, bits)| {
        let is_number = |text: &str| text.len() <= 3 && text.parse::<u8>().is_ok();
        is_number(bits) && (address.is_empty() || is_number(address))
    });
    let is_cut = dots > 0 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_short || is_cut || has_their_characters && has_parts && (has_their_form || is_extended)
}

#[cfg(test)]
mod tests;
