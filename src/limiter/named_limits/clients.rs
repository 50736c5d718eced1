//! Clients that a limit treats otherwise: which they are, and what is said of each.
//!
//! Paid: 32 bytes a line in each worker, and a search at each `limiter()`. Got: a hundred thousand lines cost one binary search. Names are
//! kept as hashes, for their texts may be long; networks as they are.

use super::mistake::{FileError, mistake};
use crate::address::{Network, ipv6_mask};
use crate::dsn::sanitize;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// The most clients of a file.
pub const MAX_CLIENTS: usize = 100_000;
/// The longest client, in bytes: no identifier is longer.
const MAX_CLIENT: usize = crate::identifier::MAX_IDENTIFIER;

/// What is said of a client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Terms {
    /// No limit holds for it.
    Exempt,
    /// It has other numbers.
    Numbers {
        /// Tokens, hits or permits.
        count: i64,
        /// In so many seconds; none: in the limit's own.
        interval: Option<f64>,
    },
}

/// What is said of a client, and in which line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientLine {
    /// From 1.
    pub line: u32,
    /// What it says.
    pub terms: Terms,
}

/// Clients and networks, with what is said of each.
pub struct Clients {
    /// Sorted by hash.
    names: Vec<Name>,
    ipv4: Networks,
    ipv6: Networks,
    /// Intervals that lines name.
    intervals: Vec<f64>,
    /// Keys of the hashes: a client must not be able to find a name whose hash another one has.
    hash_keys: [RandomState; 2],
}

/// A client to the letter.
struct Name {
    /// Of two keys, so that no two names in the world will share one.
    hash: [u64; 2],
    said: Said,
}

/// Networks, sorted by their first addresses, the larger first.
#[derive(Default)]
struct Networks(Vec<Listed>);

/// A network in a list.
struct Listed {
    prefix: u128,
    said: Said,
    /// The place of the smallest network in the list that holds this one; its own if none does.
    parent: u32,
}

/// A line in few bytes.
#[derive(Clone, Copy)]
struct Said {
    line: u32,
    /// [`EXEMPT`], or a number.
    count: u32,
    /// Which of the intervals; [`OWN_INTERVAL`].
    interval: u16,
    /// The bits of a network that count.
    bits: u8,
}

const EXEMPT: u32 = u32::MAX;
const OWN_INTERVAL: u16 = u16::MAX;

const _: () = assert!(size_of::<Name>() <= 32 && size_of::<Listed>() <= 32);

/// Clients, while they are read.
#[derive(Default)]
pub struct ClientList {
    names: Vec<Name>,
    ipv4: Vec<Listed>,
    ipv6: Vec<Listed>,
    intervals: Vec<f64>,
    interval_places: HashMap<u64, u16>,
    hash_keys: [RandomState; 2],
}

impl ClientList {
    /// Adds a client: a network or an address, or what a client is called.
    ///
    /// # Errors
    ///
    /// What looks like a network and is none, and more than [`MAX_CLIENTS`].
    pub fn add(&mut self, line: u32, client: &str, terms: Terms) -> Result<(), FileError> {
        if self.names.len() + self.ipv4.len() + self.ipv6.len() == MAX_CLIENTS {
            return Err(mistake(line, format!("must have at most {MAX_CLIENTS} clients")));
        }
        let said = |bits: u32| (bits as u8, terms);
        match parse_network(client).map_err(|what| mistake(line, what))? {
            Some(network) => {
                let (bits, prefix) = network.prefix();
                let said = self.said(line, said(bits))?;
                let listed = Listed { prefix, said, parent: 0 };
                if network.is_ipv4() { &mut self.ipv4 } else { &mut self.ipv6 }.push(listed);
            }
            None if (1..=MAX_CLIENT).contains(&client.len()) => {
                let said = self.said(line, said(0))?;
                self.names.push(Name { hash: hash(&self.hash_keys, client.as_bytes()), said });
            }
            None => {
                let message = format!("a client must have 1 to {MAX_CLIENT} bytes");
                return Err(mistake(line, message));
            }
        }
        Ok(())
    }

    fn said(&mut self, line: u32, (bits, terms): (u8, Terms)) -> Result<Said, FileError> {
        let (count, interval) = match terms {
            Terms::Exempt => (EXEMPT, OWN_INTERVAL),
            Terms::Numbers { count, interval } => {
                // Larger numbers are refused by every limit.
                let count = u32::try_from(count).unwrap_or(EXEMPT - 1).min(EXEMPT - 1);
                (count, interval.map_or(Ok(OWN_INTERVAL), |it| self.place_of(line, it))?)
            }
        };
        Ok(Said { line, count, interval, bits })
    }

    fn place_of(&mut self, line: u32, interval: f64) -> Result<u16, FileError> {
        if let Some(place) = self.interval_places.get(&interval.to_bits()) {
            return Ok(*place);
        }
        let place = u16::try_from(self.intervals.len()).ok().filter(|it| *it < OWN_INTERVAL);
        let message = || mistake(line, format!("must have at most {OWN_INTERVAL} intervals"));
        let place = place.ok_or_else(message)?;
        self.intervals.push(interval);
        self.interval_places.insert(interval.to_bits(), place);
        Ok(place)
    }

    /// All that were added.
    ///
    /// # Errors
    ///
    /// A client that is there twice.
    pub fn finish(self) -> Result<Clients, FileError> {
        let Self { mut names, ipv4, ipv6, mut intervals, hash_keys, .. } = self;
        names.sort_unstable_by_key(|name| (name.hash, name.said.line));
        let twins = names.windows(2).filter_map(|pair| match pair {
            [first, second] if first.hash == second.hash => Some((first.said, second.said)),
            _ => None,
        });
        refuse_twins(twins)?;
        let (ipv4, ipv6) = (Networks::sort(ipv4)?, Networks::sort(ipv6)?);
        names.shrink_to_fit();
        intervals.shrink_to_fit();
        Ok(Clients { names, ipv4, ipv6, intervals, hash_keys })
    }
}

impl Clients {
    /// What is said of a client: of its name to the letter, else of the smallest network that holds it. A client that is a
    /// network is held by those that hold all its addresses.
    pub fn find(&self, client: &[u8]) -> Option<(u32, ClientLine)> {
        let own = hash(&self.hash_keys, client);
        if let Ok(place) = self.names.binary_search_by_key(&own, |name| name.hash) {
            return Some((u32::MAX, self.line(self.names.get(place)?.said)));
        }
        let network = Network::of_client(client)?;
        let networks = if network.is_ipv4() { &self.ipv4 } else { &self.ipv6 };
        let said = networks.find(network.prefix())?;
        Some((said.bits.into(), self.line(said)))
    }

    /// All lines, in no order.
    pub fn lines(&self) -> impl Iterator<Item = ClientLine> {
        let networks = self.ipv4.0.iter().chain(&self.ipv6.0).map(|listed| listed.said);
        self.names.iter().map(|name| name.said).chain(networks).map(|said| self.line(said))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len() + self.ipv4.0.len() + self.ipv6.0.len()
    }

    fn line(&self, said: Said) -> ClientLine {
        let interval = self.intervals.get(usize::from(said.interval)).copied();
        let terms = match said.count {
            EXEMPT => Terms::Exempt,
            count => Terms::Numbers { count: count.into(), interval },
        };
        ClientLine { line: said.line, terms }
    }
}

impl Networks {
    fn sort(mut listed: Vec<Listed>) -> Result<Self, FileError> {
        listed.sort_unstable_by_key(|it| (it.prefix, it.said.bits, it.said.line));
        let twins = listed.windows(2).filter_map(|pair| match pair {
            [a, b] if a.prefix == b.prefix && a.said.bits == b.said.bits => Some((a.said, b.said)),
            _ => None,
        });
        refuse_twins(twins)?;
        // The networks that hold the last one, the smallest last, with their places.
        let mut around: Vec<(u32, u128, u8)> = Vec::new();
        for (place, network) in (0..).zip(&mut listed) {
            let prefix = network.prefix;
            while around.pop_if(|(_, outer, bits)| !holds(*outer, *bits, prefix)).is_some() {}
            network.parent = around.last().map_or(place, |(outer, ..)| *outer);
            around.push((place, prefix, network.said.bits));
        }
        listed.shrink_to_fit();
        Ok(Self(listed))
    }

    /// What is said of the smallest network that holds this one.
    fn find(&self, (bits, prefix): (u32, u128)) -> Option<Said> {
        // The last that begins no later. Whatever holds the client holds this one, too.
        let after =
            self.0.partition_point(|it| (it.prefix, u32::from(it.said.bits)) <= (prefix, bits));
        let mut place = after.checked_sub(1)?;
        loop {
            let Listed { prefix: outer, said, parent } = self.0.get(place)?;
            if u32::from(said.bits) <= bits && holds(*outer, said.bits, prefix) {
                return Some(*said);
            }
            if *parent as usize == place {
                return None;
            }
            place = *parent as usize;
        }
    }
}

/// Whether a network of so many bits holds what begins with `prefix`.
fn holds(network: u128, bits: u8, prefix: u128) -> bool {
    (network ^ prefix) & ipv6_mask(bits.into()) == 0
}

fn hash(keys: &[RandomState; 2], client: &[u8]) -> [u64; 2] {
    keys.each_ref().map(|key| key.hash_one(client))
}

/// The first line that names a client again.
fn refuse_twins(twins: impl Iterator<Item = (Said, Said)>) -> Result<(), FileError> {
    match twins.min_by_key(|(_, second)| second.line) {
        None => Ok(()),
        Some((first, second)) => {
            let line = first.line;
            let where_ = if line == second.line {
                "in this line".to_owned()
            } else {
                format!("in line {line}")
            };
            Err(mistake(
                second.line,
                format!("a client must not be there twice: this one is {where_}, too"),
            ))
        }
    }
}

/// Reads an address or a network. None for any other client.
fn parse_network(client: &str) -> Result<Option<Network>, String> {
    match Network::parse(client.as_bytes()) {
        Some(network) => match network.if_written_otherwise() {
            Some(right) => {
                Err(format!("{} has bits beyond its length: write {right}", sanitize(client)))
            }
            None => Ok(Some(network)),
        },
        None if looks_like_network(client) => Err(format!(
            "{} is no address or network: write one like 10.0.0.0/8 or 2001:db8::/32",
            sanitize(client)
        )),
        None => Ok(None),
    }
}

/// Whether a text can hardly be anything but an address or a network with a mistake.
fn looks_like_network(text: &str) -> bool {
    let (address, bits) =
        text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_ipv4 = address.split('.').count() == 4 && address.split('.').all(is_number);
    let is_hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
    let is_ipv6 = address.matches(':').count() >= 2 && address.bytes().all(is_hex);
    (is_ipv4 || is_ipv6) && bits.is_none_or(|bits| is_number(bits) || bits.is_empty())
}

#[cfg(test)]
mod tests;
