//! Leases: tokens of busy buckets on servers that this host has taken ahead, and hands out by itself.
//!
//! A process that finds no token left makes one call for a *batch* and puts what it does not need into a word,
//! from which all processes of the host take by compare-and-swap. All of these tokens were taken on the server before, so
//! hosts never give out more than they were given. A token that is lost, because its process was killed or its word
//! is needed by another bucket, is lost to the client and comes back with time.
//!
//! The batch begins at one token and doubles when it is used up within [`LIFETIME`], so a bucket without that many calls never
//! has a lease. It falls to what was used when some of it was left, and to one while less than a quarter of the bucket is left.

mod word;

use crate::clock::boot_time;
use crate::limit::{Decision, Limit, Op, Span, State, TokenBucket, apply};
use crate::mapped::futex::{sleep_while, wake};
use crate::mapped::set::{Set, WAYS};
use crate::mapped::word::Word;
use crate::mapped::{Area, Region};
use crate::store::shm::usage::TableUsage;
use portable_atomic::{AtomicU128, Ordering};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::time::Duration;
pub use word::LIFETIME;
use word::{FETCH_BITS, LIMIT_BITS, Lease, SCARCE, UNIT_BITS};

/// The lease of a bucket under a limit.
pub struct LeaseKey<'a, W = AtomicU128> {
    /// The words of the bucket, and of others.
    pub set: &'a Set<W>,
    /// The bucket.
    pub tag: u64,
    /// Tells this limit from others: tokens that were taken under another limit are not handed out.
    pub limit: u32,
    /// The most tokens of a batch, at most [`MAX_LEASE`].
    pub max: u32,
}

/// What a call does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: it has its tokens.
    Taken(Taken),
    /// It asks the server for its tokens, and for a batch.
    Fetch(Fetch),
    /// It asks the server for its tokens alone.
    Ask,
    /// A batch is on its way: it waits for that, or asks the server for its tokens alone. The lease's word ends with these
    /// bits until the batch is there.
    Await(u32),
}

/// Tokens that were taken from a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// By this host's clock, the bucket on the server is full at this time; none if that is not known.
    pub full_at: Option<u64>,
    /// How many tokens are left in the lease, which the server has given, too.
    pub rest: u32,
}

/// What a lease is to a call for tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeaseState {
    /// It has enough.
    Enough,
    /// It is valid, and has too few. They stay in it.
    TooFew,
    /// No process has asked for more in time. What is left goes back to the server.
    Ended,
    /// A process is asking for the next batch.
    BeingFetched,
    /// It is of another bucket or limit.
    Foreign,
}

/// The right to ask for a batch.
#[derive(Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Tells this fetch from others of the lease.
    number: u32,
    /// How many tokens to ask for. A call that needs as many asks for its own alone.
    pub batch: u32,
    /// Tokens of an earlier batch that no call has used in time: the server gets them back.
    pub left_over: u32,
    /// When the bucket on the server is full, as this host knew it last.
    pub full_at: Option<u64>,
}

impl Fetch {
    /// What a call asks the server for at `now` that needs `cost` tokens itself. A quarter of the bucket is left for other
    /// hosts, as far as this one knows.
    pub fn op(&self, limit: &Limit, cost: u64, now: u64) -> Op {
        let room = self.full_at.map_or(1, |full_at| {
            limit.remaining(&level(limit, full_at, now)).saturating_sub(quarter(limit))
        });
        let most = u64::from(self.batch).min(quarter(limit)).min(room);
        if most > cost { Op::TakeUpTo { most, least: cost, leave: 0 } } else { Op::Take { cost } }
    }
}

/// Whether a decision leaves so little that the next batch is one token.
pub fn is_scarce(limit: &Limit, decision: &Decision) -> bool {
    limit.remaining(decision) < quarter(limit)
}

fn quarter(limit: &Limit) -> u64 {
    limit.capacity() / 4
}

/// How many tokens a bucket lacks after a decision.
pub fn missing(limit: &Limit, decision: &Decision) -> u64 {
    limit.capacity().saturating_sub(limit.remaining(decision))
}

/// What a bucket holds at `now` that is full at `full_at`.
pub fn level(limit: &Limit, full_at: u64, now: u64) -> Decision {
    let state = State::Filling { full_at: Span::from_ns(full_at) };
    apply(limit, &state.into(), now, Op::Peek { cost: 0 }).0
}

/// How many busy buckets the file has room for, and how many have tokens to hand out.
pub fn usage(region: &Region) -> TableUsage {
    let (sets, now) = (region.area::<Set>(Area::Leases), boot_time());
    let words = sets.iter().flat_map(|set| set.0.iter().take(WAYS / 2));
    let leases = words.map(|word| Lease::from_word(word.load(Ordering::Relaxed)));
    let used = leases.filter(|lease| lease.tokens > 0 && lease.is_valid(now)).count();
    TableUsage { slots: sets.len() * WAYS / 2, used, evictions: 0, denied_newcomers: 0 }
}

impl LeaseKey<'_> {
    /// A hash of the limit. Two different limits have the same with a chance of one in 512.
    pub fn limit_hash(bucket: &TokenBucket) -> u32 {
        let mut hasher = SipHasher13::new();
        let full = bucket.refill_time();
        [bucket.capacity(), full.ns, full.part, bucket.parts()]
            .into_iter()
            .for_each(|number| hasher.write_u64(number));
        hasher.finish() as u32 & ((1 << LIMIT_BITS) - 1)
    }

    /// Sleeps while the lease's word ends with these bits, `at_most` this long.
    pub fn sleep_while(&self, seen: u32, at_most: Duration) {
        if let Some((word, _, _)) = self.find() {
            sleep_while(word, seen, u32::MAX, at_most);
        }
    }

    /// Wakes the processes that wait for a batch.
    pub fn wake(&self) {
        if let Some((word, _, _)) = self.find() {
            wake(word, u32::MAX, u32::MAX);
        }
    }
}

impl<W: Word> LeaseKey<'_, W> {
    /// Takes `cost` tokens at `now`, or tells the call to ask the server, which takes at most `longest` nanoseconds.
    pub fn take(&self, cost: u32, now: u64, longest: u64) -> Step {
        loop {
            let Some((word, level, seen)) = self.find().or_else(|| self.find_free(now, longest))
            else {
                return Step::Ask;
            };
            let lease = Lease::from_word(seen);
            let found = self.judge(&lease, cost, now, longest);
            let (batch, kept, left_over) = match found {
                LeaseState::Enough => {
                    let taken = Lease { tokens: lease.tokens - cost, ..lease };
                    if replace(word, seen, taken) {
                        let full_at = lease.level_in(level.load());
                        return Step::Taken(Taken { full_at, rest: taken.tokens });
                    }
                    continue;
                }
                LeaseState::BeingFetched => return Step::Await(seen as u32),
                LeaseState::TooFew => (lease.next_batch(now), lease.tokens, 0),
                LeaseState::Ended => (lease.next_batch(now), 0, lease.tokens),
                LeaseState::Foreign => (0, 0, 0),
            };
            let batch = batch.min(self.max.max(1).ilog2() + u32::from(!self.max.is_power_of_two()));
            let number = match lease.tag == self.tag {
                true => lease.next_fetch(),
                // By the time, so that it is no number of an earlier lease of the bucket.
                false => (now >> UNIT_BITS) as u32 & ((1 << FETCH_BITS) - 1),
            };
            let fetching = Lease {
                tag: self.tag,
                valid_until: now >> UNIT_BITS,
                fetch: number,
                is_fetching: true,
                batch,
                limit: self.limit,
                tokens: kept,
            };
            if replace(word, seen, fetching) {
                let batch = (1 << batch).min(self.max).saturating_sub(kept);
                let known = lease.level_in(level.load());
                let full_at = known.filter(|_| found != LeaseState::Foreign);
                return Step::Fetch(Fetch { number, batch, left_over, full_at });
            }
        }
    }

    /// What a lease is to a call for `cost` tokens.
    fn judge(&self, lease: &Lease, cost: u32, now: u64, longest: u64) -> LeaseState {
        let is_of_bucket = lease.tag == self.tag;
        match is_of_bucket && lease.limit == self.limit {
            _ if is_of_bucket && lease.is_being_fetched(now, longest) => LeaseState::BeingFetched,
            true if !lease.is_valid(now) => LeaseState::Ended,
            true if lease.tokens >= cost => LeaseState::Enough,
            true => LeaseState::TooFew,
            false => LeaseState::Foreign,
        }
    }

    /// Puts `tokens` into the lease that the server gave to a call sent at `sent`, beyond what the call needed.
    /// The bucket on the server is full at `full_at`. `is_scarce`: less than a quarter of the bucket is left.
    pub fn put(
        &self,
        fetch: &Fetch,
        tokens: u32,
        full_at: u64,
        is_scarce: bool,
        sent: u64,
        now: u64,
    ) {
        let Some((word, level, seen)) = self.find_fetching(fetch) else { return };
        let lease = Lease::from_word(seen);
        note_level(level, lease, full_at);
        let put = Lease {
            valid_until: (sent + LIFETIME) >> UNIT_BITS,
            is_fetching: false,
            batch: if is_scarce { SCARCE } else { lease.batch },
            // A process that was paused does not give out what is too old.
            tokens: match now < sent + LIFETIME {
                true => (lease.tokens + tokens).min(self.max),
                false => 0,
            },
            ..lease
        };
        replace(word, seen, put);
    }

    /// Gives up the right to ask: the server gave nothing. The next batch is one token, but not if the server was too busy to
    /// be asked (`is_busy`).
    pub fn give_up(&self, fetch: &Fetch, is_busy: bool) {
        if let Some((word, _, seen)) = self.find_fetching(fetch) {
            let lease = Lease::from_word(seen);
            let batch = if is_busy { lease.batch } else { 0 };
            replace(word, seen, Lease { is_fetching: false, batch, ..lease });
        }
    }

    /// What this host could hand out.
    pub fn available(&self, now: u64) -> Option<Taken> {
        let (_, level, seen) = self.find()?;
        let lease = Lease::from_word(seen);
        let is_valid = lease.limit == self.limit && lease.is_valid(now);
        is_valid.then(|| Taken { full_at: lease.level_in(level.load()), rest: lease.tokens })
    }

    /// Puts tokens back into the lease. None if there is no room for them: a lease has at most as many tokens as the bucket
    /// on the server lacks, which `missing` says of one that is full at a time.
    pub fn give_back(&self, tokens: u64, now: u64, missing: impl Fn(u64) -> u64) -> Option<Taken> {
        loop {
            let (word, level, seen) = self.find()?;
            let lease = Lease::from_word(seen);
            if lease.limit != self.limit || !lease.is_valid(now) || !lease.is_busy() {
                return None;
            }
            let full_at = lease.level_in(level.load())?;
            let room = missing(full_at).min(self.max.into());
            let rest = tokens.saturating_add(lease.tokens.into());
            let rest = u32::try_from(rest).ok().filter(|rest| u64::from(*rest) <= room)?;
            if replace(word, seen, Lease { tokens: rest, ..lease }) {
                return Some(Taken { full_at: Some(full_at), rest });
            }
        }
    }

    /// Notes the answer to a refund on the server: the bucket there lacks `missing` tokens, and is full at `full_at`. The
    /// lease keeps no more tokens than that. A batch that would be too many is lost when it arrives.
    pub fn note_refund(&self, missing: u64, full_at: u64) {
        while let Some((word, level, seen)) = self.find() {
            let lease = Lease::from_word(seen);
            if lease.limit != self.limit {
                return;
            }
            let with_batch = (1 << lease.batch).min(self.max).max(lease.tokens);
            if lease.is_fetching && u64::from(with_batch) <= missing {
                // The process that fetches may have had its answer before.
                return note_level(level, lease, full_at);
            }
            // Fits: at most what it was.
            let tokens = missing.min(lease.tokens.into()) as u32;
            let noted = Lease { fetch: lease.next_fetch(), is_fetching: false, tokens, ..lease };
            let known = lease.level_in(level.load());
            note_level(level, noted, known.map_or(full_at, |known| known.min(full_at)));
            if replace(word, seen, noted) {
                return;
            }
        }
    }

    /// Ends the lease. A batch that is being fetched is lost when it arrives.
    pub fn end(&self, now: u64) {
        while let Some((word, _, seen)) = self.find() {
            let lease = Lease::from_word(seen);
            let ended = Lease {
                valid_until: now >> UNIT_BITS,
                fetch: lease.next_fetch(),
                is_fetching: false,
                batch: 0,
                tokens: 0,
                ..lease
            };
            if replace(word, seen, ended) {
                return;
            }
        }
    }

    /// The words of leases, each with the word of its level, and their content.
    fn words(&self) -> impl Iterator<Item = (&W, &W, u128)> {
        let (leases, levels) = self.set.0.split_at(WAYS / 2);
        leases.iter().zip(levels).map(|(word, level)| (word, level, word.load()))
    }

    fn find(&self) -> Option<(&W, &W, u128)> {
        self.words().find(|(_, _, seen)| Lease::from_word(*seen).tag == self.tag)
    }

    fn find_fetching(&self, fetch: &Fetch) -> Option<(&W, &W, u128)> {
        self.find().filter(|(_, _, seen)| {
            let lease = Lease::from_word(*seen);
            lease.is_fetching && lease.fetch == fetch.number
        })
    }

    /// The word whose lease ended first. None if all are in use.
    fn find_free(&self, now: u64, longest: u64) -> Option<(&W, &W, u128)> {
        let is_free = |(_, _, seen): &(_, _, u128)| {
            let lease = Lease::from_word(*seen);
            !lease.is_being_fetched(now, longest)
                && (lease.tokens == 0 || now >> UNIT_BITS >= lease.valid_until)
        };
        self.words().filter(is_free).min_by_key(|(_, _, seen)| Lease::from_word(*seen).valid_until)
    }
}

fn replace<W: Word>(word: &W, seen: u128, new: Lease) -> bool {
    word.replace(seen, new.to_word())
}

/// Notes when the bucket on the server is full, beside the number of the last fetch. Of two times the earlier counts: answers of the server
/// may be noted in another order, and a bucket must not be taken for emptier than it is.
fn note_level<W: Word>(level: &W, lease: Lease, full_at: u64) {
    loop {
        let seen = level.load();
        let word = lease.level_word(lease.level_in(seen).map_or(full_at, |it| it.min(full_at)));
        if level.replace(seen, word) {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
