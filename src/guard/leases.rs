//! Leases: tokens of busy buckets on servers, and hits of busy windows, that this host has taken ahead and hands out by itself.
//!
//! Paid: a block or reset by another host is noticed within a second; a bucket's clients may get one lease of each host more in a
//! stretch of time; what a process had fetched when it was killed is lost. Got: one round trip for a batch in place of one a call. Tried
//! instead, for windows: their two ends and their hits in one word with the tag and the number of the fetch, which takes 200 bits; and only
//! the server's end, with this host's time of day to tell how long that is, which is wrong by as much as the two clocks differ.
//!
//! A process that finds no token left makes one call for a *batch* and puts what it does not need into a word,
//! from which all processes of the host take by compare-and-swap. All of these tokens were taken on the server before, so
//! hosts never give out more than they were given. A token that is lost, because its process was killed or its word
//! is needed by another bucket, is lost to the client and comes back with time.
//!
//! The server counts what hosts hold of a state, and names the state (`limit/leased.rs`). A host tells with each batch how much of the last
//! one it has handed out. So a refund, by whichever host, gives back no token that a host may still hand out: it goes into the lease
//! as far as this host has handed out more than it has told, and the rest to the server. What is left of a lease goes back to the
//! state that it was taken from, and to no other one.
//!
//! Hits end with their window: no window has more hits than its limit, whatever fails. By this host's clock it ends as long after the
//! *beginning* of the trip as the server says that it lasts, so never later than on the server. memcached has no clock: there a host whose
//! clock is behind may hand them out later by the difference, two seconds at most. What goes back to the server names the
//! window that was charged, and is forgotten there once that has ended.
//!
//! The batch begins at one token and doubles when it is used up within [`LIFETIME`], so a bucket without that many calls never
//! has a lease. It falls to what was used when some of it was left, and to one while less than a quarter of the bucket is left.

mod level;
mod word;

use crate::clock::boot_time;
use crate::limit::{Limit, Op};
use crate::mapped::futex::{sleep_while, wake};
use crate::mapped::set::{Set, WAYS};
use crate::mapped::word::Word;
use crate::mapped::{Area, Region};
use crate::store::shm::usage::TableUsage;
pub use level::{Level, is_scarce, missing, quarter};
use portable_atomic::{AtomicU128, Ordering};
use siphasher::sip::SipHasher13;
use std::hash::{Hash, Hasher};
use std::time::Duration;
pub use word::LIFETIME;
use word::{FETCH_BITS, LIMIT_BITS, Lease, SCARCE, UNIT_BITS, WORDS};

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
    /// The bucket or window on the server.
    pub level: Level,
    /// How many tokens are left in the lease, which the server has given, too.
    pub rest: u32,
}

/// What a lease is to a call for tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeaseState {
    /// It has enough.
    Enough(Level),
    /// It is valid, and has too few. They stay in it.
    TooFew,
    /// No process has asked for more in time. What is left goes back to the server.
    Ended,
    /// A process is asking for the next batch.
    BeingFetched,
    /// It is of another bucket or limit, or not known of which window.
    Foreign,
}

/// The right to ask for a batch.
#[derive(Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Tells this fetch from others of the lease.
    number: u32,
    /// How many tokens to ask for. A call that needs as many asks for its own alone.
    pub batch: u32,
    /// Tokens of an earlier batch that no call has used in time.
    pub left_over: u32,
    /// Tokens of earlier batches that were handed out, and that the server still counts as held.
    spent: u32,
    /// The bucket or window on the server, as this host knew it last.
    pub level: Option<Level>,
}

impl Fetch {
    /// What a call asks the server for at `now` that needs `cost` tokens itself. A quarter of the bucket is left for other
    /// hosts, as far as this one knows.
    pub fn op(&self, limit: &Limit, cost: u64, now: u64) -> Op {
        let room = self.level.map_or(1, |level| {
            limit.remaining(&level.at(limit, now)).saturating_sub(quarter(limit))
        });
        let most = u64::from(self.batch).min(quarter(limit)).min(room);
        let known = self.level.filter(|level| level.counted > 0).map_or(0, |level| level.name);
        if most <= cost && known == 0 {
            return Op::Take { cost };
        }
        let (fresh, spent) = (Level::new_name(), self.spent.into());
        Op::Lease { most: most.max(cost), least: cost, known, fresh, spent }
    }

    /// What gives the server back the tokens at `now` that no call has used in time. None if there are none, or if their window has
    /// ended or is not known.
    pub fn return_left_over(&self, now: u64) -> Option<Op> {
        let level = self.level?;
        let has_ended = level.is_of_window() && now >= level.expires_at;
        let is_there = self.left_over > 0 && !has_ended;
        is_there.then(|| Op::GiveBack { cost: self.left_over.into(), known: level.name })
    }
}

/// How many busy buckets the file has room for, and how many have tokens to hand out.
pub fn usage(region: &Region) -> TableUsage {
    let (sets, now) = (region.area::<Set>(Area::Leases), boot_time());
    let words = sets.iter().flat_map(|set| set.0.iter().step_by(WORDS));
    let leases = words.map(|word| Lease::from_word(word.load(Ordering::Relaxed)));
    let used = leases.filter(|lease| lease.tokens > 0 && lease.is_valid(now)).count();
    TableUsage { slots: sets.len() * WAYS / WORDS, used, evictions: 0, denied_newcomers: 0 }
}

impl LeaseKey<'_> {
    /// A hash of the limit. Two different limits have the same with a chance of one in 512. None if the limit has no leases.
    pub fn limit_hash(limit: &Limit) -> Option<u32> {
        match limit {
            Limit::TokenBucket(_) | Limit::FixedWindow(_) | Limit::CalendarWindow(_) => {
                let mut hasher = SipHasher13::new();
                limit.hash(&mut hasher);
                Some(hasher.finish() as u32 & ((1 << LIMIT_BITS) - 1))
            }
            Limit::SlidingWindow(_) => None,
        }
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
            let Some((word, notes, seen)) = self.find_or_free(now, longest) else {
                return Step::Ask;
            };
            let lease = Lease::from_word(seen);
            let level = Level::read(notes, &lease);
            let found = self.judge(&lease, level, cost, now, longest);
            let (doublings, kept, left_over) = match found {
                LeaseState::Enough(level) => {
                    let taken = Lease { tokens: lease.tokens - cost, ..lease };
                    if replace(word, seen, taken) {
                        return Step::Taken(Taken { level, rest: taken.tokens });
                    }
                    continue;
                }
                // Brings no more than the token of its own call: an empty window, say, denies calls side by side.
                LeaseState::BeingFetched if lease.doublings == 0 => return Step::Ask,
                LeaseState::BeingFetched => return Step::Await(seen as u32),
                LeaseState::TooFew => (lease.next_doublings(now), lease.tokens, 0),
                LeaseState::Ended => (lease.next_doublings(now), 0, lease.tokens),
                LeaseState::Foreign => (0, 0, 0),
            };
            let most = self.max.max(1).ilog2() + u32::from(!self.max.is_power_of_two());
            let doublings = doublings.min(most);
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
                doublings,
                limit: self.limit,
                tokens: kept,
            };
            if replace(word, seen, fetching) {
                let batch = (1 << doublings).min(self.max).saturating_sub(kept);
                let level = level.filter(|_| found != LeaseState::Foreign);
                let counted = level.map_or(0, |level| level.counted);
                let spent = counted.saturating_sub(kept + left_over);
                return Step::Fetch(Fetch { number, batch, left_over, spent, level });
            }
        }
    }

    /// What a lease is to a call for `cost` tokens.
    fn judge(
        &self,
        lease: &Lease,
        level: Option<Level>,
        cost: u32,
        now: u64,
        longest: u64,
    ) -> LeaseState {
        let is_of_bucket = lease.tag == self.tag;
        match level {
            _ if is_of_bucket && lease.is_being_fetched(now, longest) => LeaseState::BeingFetched,
            _ if !is_of_bucket || lease.limit != self.limit => LeaseState::Foreign,
            _ if !lease.is_valid(now) => LeaseState::Ended,
            Some(level) if lease.tokens >= cost => LeaseState::Enough(level),
            Some(_) => LeaseState::TooFew,
            None => LeaseState::Foreign,
        }
    }

    /// Puts `tokens` into the lease that the server gave to a call sent at `sent`, beyond what the call needed. They are of a bucket or
    /// window at this `level`. `is_scarce`: less than a quarter of it is left. Returns what the lease has then.
    pub fn put(
        &self,
        fetch: &Fetch,
        tokens: u32,
        level: Level,
        is_scarce: bool,
        sent: u64,
        now: u64,
    ) -> u32 {
        let Some((word, notes, seen)) = self.find_fetching(fetch) else { return 0 };
        let lease = Lease::from_word(seen);
        // What was kept of another state is nothing of this one.
        let is_same = fetch.level.is_some_and(|known| known.name == level.name);
        let kept = if is_same { lease.tokens } else { 0 };
        let level = Level { counted: kept + tokens, ..level };
        level.note(notes, &lease);
        let valid_until = level.cut(sent + LIFETIME);
        let put = Lease {
            valid_until: valid_until >> UNIT_BITS,
            is_fetching: false,
            doublings: if is_scarce { SCARCE } else { lease.doublings },
            // A process that was paused does not give out what is too old.
            tokens: if now < valid_until { (kept + tokens).min(self.max) } else { 0 },
            ..lease
        };
        if replace(word, seen, put) { put.tokens } else { 0 }
    }

    /// Gives up the right to ask: the server gave nothing. The next batch is one token, but not if the server was too busy to
    /// be asked (`is_busy`). `is_denied`: it is known to have changed nothing; if not, it may know what was handed out.
    pub fn give_up(&self, fetch: &Fetch, is_busy: bool, is_denied: bool) {
        if let Some((word, notes, seen)) = self.find_fetching(fetch) {
            let lease = Lease::from_word(seen);
            if let Some(level) = fetch.level {
                let counted = lease.tokens + if is_denied { fetch.spent } else { 0 };
                Level { counted, ..level }.note(notes, &lease);
            }
            let doublings = if is_busy { lease.doublings } else { 0 };
            replace(word, seen, Lease { is_fetching: false, doublings, ..lease });
        }
    }

    /// What this host could hand out.
    pub fn available(&self, now: u64) -> Option<Taken> {
        let (_, notes, seen) = self.find()?;
        let lease = Lease::from_word(seen);
        let is_valid = lease.limit == self.limit && lease.is_valid(now);
        let level = Level::read(notes, &lease).filter(|_| is_valid)?;
        Some(Taken { level, rest: lease.tokens })
    }

    /// Puts as many of these tokens back into the lease as it may take: it has at most as many as the server counts as held, and as the bucket
    /// lacks there, which `missing` says of its level. None if that is none, or if they were taken from another `window`, if one is
    /// given. Also returns how many it took. One that has ended takes them, too, for they go back to the server with what is left.
    pub fn give_back(
        &self,
        tokens: u64,
        window: Option<u64>,
        now: u64,
        missing: impl Fn(&Level) -> u64,
    ) -> Option<(Taken, u64)> {
        loop {
            let (word, notes, seen) = self.find()?;
            let lease = Lease::from_word(seen);
            let level = Level::read(notes, &lease)?;
            let is_other = window.is_some_and(|window| window != level.window);
            let has_ended = level.is_of_window() && now >= level.expires_at;
            if lease.limit != self.limit || lease.is_fetching || is_other || has_ended {
                return None;
            }
            let room = missing(&level).min(level.counted.min(self.max).into());
            let put = tokens.min(room.saturating_sub(lease.tokens.into()));
            if put == 0 {
                return None;
            }
            // Fits: at most what is counted.
            let rest = lease.tokens + put as u32;
            if replace(word, seen, Lease { tokens: rest, ..lease }) {
                return Some((Taken { level, rest }, put));
            }
        }
    }

    /// Notes the answer to a refund on the server: the bucket there is at this level.
    pub fn note_refund(&self, level: &Level) {
        let Some((_, notes, seen)) = self.find() else { return };
        let lease = Lease::from_word(seen);
        // If a batch is on its way, its answer says.
        let known = Level::read(notes, &lease).filter(|_| !lease.is_fetching);
        if let Some(known) = known.filter(|known| known.window == level.window) {
            let Level { name, counted, .. } = known;
            Level { name, counted, ..*level }.note(notes, &lease);
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
                doublings: 0,
                tokens: 0,
                ..lease
            };
            if replace(word, seen, ended) {
                return;
            }
        }
    }

    /// The words of leases, each with its notes and its content.
    fn words(&self) -> impl Iterator<Item = (&W, &[W], u128)> {
        let leases = self.set.0.chunks_exact(WORDS).filter_map(<[W]>::split_first);
        leases.map(|(word, notes)| (word, notes, word.load()))
    }

    fn find(&self) -> Option<(&W, &[W], u128)> {
        self.words().find(|(_, _, seen)| Lease::from_word(*seen).tag == self.tag)
    }

    fn find_fetching(&self, fetch: &Fetch) -> Option<(&W, &[W], u128)> {
        self.find().filter(|(_, _, seen)| {
            let lease = Lease::from_word(*seen);
            lease.is_fetching && lease.fetch == fetch.number
        })
    }

    /// The word of the bucket, or else the one whose lease ended first. None if all are in use. Each word is read once: processes that
    /// find the same words choose the same one, so that a bucket has no two.
    fn find_or_free(&self, now: u64, longest: u64) -> Option<(&W, &[W], u128)> {
        let is_own = |lease: &Lease| lease.tag == self.tag;
        let is_free = |lease: &Lease| {
            !lease.is_being_fetched(now, longest)
                && (lease.tokens == 0 || now >> UNIT_BITS >= lease.valid_until)
        };
        let words = self.words().map(|found| (Lease::from_word(found.2), found));
        let usable = words.filter(|(lease, _)| is_own(lease) || is_free(lease));
        let best = usable.min_by_key(|(lease, _)| (!is_own(lease), lease.valid_until));
        best.map(|(_, found)| found)
    }
}

fn replace<W: Word>(word: &W, seen: u128, new: Lease) -> bool {
    word.replace(seen, new.to_word())
}

#[cfg(test)]
mod tests;
