//! Permits in shared memory: how many run at once on this host.
//!
//! The n-th permit of an identifier is a key of its own, in one slot of a table that holds permits only. A caller
//! takes the first one that is free. If all are held, it looks for those of processes that have died
//! ([`holder`](super::holder)), and frees them. It asks about few of many, from a random one on. Tried instead: to note in the
//! file where the next call goes on. That was one more table, to find the dead one in half as many calls.

use super::held;
use super::holder::{Holder, Living, random};
use super::keys::Keys;
use super::slot::{HeldSlot, Slot};
use super::statistics::TableStatistics;
use super::usage::TableUsage;
use crate::clock::{boot_time, frozen};
use crate::error::Result;
use crate::limit::{MAX_PERMITS, PermitLimit};
use crate::mapped::set::{Places, Set, WAYS};
use crate::mapped::{Area, BODY_AT, Location, MappedFile, PERMITS_SIZE, Region, not_open};
use crate::net::Timeouts;
use crate::store::Key;
use crate::store::permits::{PermitHandle, PermitSlot, Permits};
use portable_atomic::Ordering;
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// How many processes a denied call asks the kernel about at most.
const MAX_ASKED: usize = 64;

/// A file of permits, and this process as a holder of some.
pub struct PermitTable {
    file: Rc<MappedFile>,
    holder: RefCell<Option<Holder>>,
}

impl PermitTable {
    /// The table at `location`. Nothing is opened yet.
    pub fn new(location: Location) -> Self {
        let file = Rc::new(MappedFile::new(location));
        Self { file, holder: RefCell::default() }
    }

    /// Opens the file if that is due, and makes this process a holder in it.
    #[inline(always)]
    fn open_if_due(&self, clock: u64) -> Result<Ref<'_, Holder>> {
        self.file.open_if_due(clock)?;
        self.current_holder().map_or_else(|| self.make_holder(), Ok)
    }

    #[inline(always)]
    fn current_holder(&self) -> Option<Ref<'_, Holder>> {
        let file = self.file.number();
        let is_current = |holder: &&Holder| holder.is_current(file);
        Ref::filter_map(self.holder.borrow(), |it| it.as_ref().filter(is_current)).ok()
    }

    #[cold]
    fn make_holder(&self) -> Result<Ref<'_, Holder>> {
        // What a child has inherited may keep the lock of its parent: it is dropped here.
        self.holder.take();
        let mut made = self.try_to_make_holder();
        if let Ok(None) = made {
            // The file has lost its path since it was last looked at.
            self.file.open()?;
            made = self.try_to_make_holder();
        }
        let holder = match made {
            Err(error) if !self.file.location().purpose.needs_no_file() => return Err(error),
            // The file is used on without its path, or the process has no descriptor left.
            Err(_) | Ok(None) => Holder::without_lock(self.file.number()),
            Ok(Some(holder)) => holder,
        };
        self.holder.replace(Some(holder));
        self.current_holder().ok_or_else(not_open)
    }

    fn try_to_make_holder(&self) -> Result<Option<Holder>> {
        let region = self.file.region();
        let Some(region) = &*region else { return Err(not_open()) };
        Holder::new(region, self.file.number())
    }

    /// How full the table is; none if it is not there. Nothing is made.
    fn usage(&self) -> Result<Option<TableUsage>> {
        self.file.open_existing()?;
        self.file.region().as_ref().map(TableUsage::of_permits).transpose()
    }
}

/// The permits of a store, in a table that it may share with others.
pub struct SharedPermits {
    table: Rc<PermitTable>,
    keys: Keys,
}

/// The permits of a key while a call runs.
struct KeyPermits<'a> {
    /// One for each permit.
    places: Places<'a>,
    hash: u64,
    now: u64,
    region: &'a Region,
}

impl SharedPermits {
    /// The permits in `table`, whose keys are apart from those of other domains.
    pub fn in_table(table: Rc<PermitTable>, domain: u64) -> Self {
        Self { table, keys: Keys::new(domain) }
    }

    /// What `phpinfo()` shows.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let holds = (PERMITS_SIZE - BODY_AT) as usize / size_of::<Set>() * WAYS;
        let held = match self.table.usage() {
            Ok(usage) => usage.map_or(0, |usage| usage.used).to_string(),
            Err(error) => error.to_string(),
        };
        vec![("Permits it can hold", holds.to_string()), ("Permits held", held)]
    }

    /// Runs `work` on the permits of a key.
    #[inline(always)]
    fn with_key<R>(
        &self,
        key: &Key<'_>,
        work: impl FnOnce(&KeyPermits<'_>, &Holder) -> R,
    ) -> Result<R> {
        let clock = boot_time();
        let holder = self.table.open_if_due(clock)?;
        let region = self.table.file.region();
        let Some(region) = &*region else { return Err(not_open()) };
        let hash = self.keys.hash(key, region, self.table.file.number());
        let now = frozen().unwrap_or(clock);
        let places = Places::new(region.area(Area::Permits), hash).ok_or_else(not_open)?;
        Ok(work(&KeyPermits { places, hash, now, region }, &holder))
    }

    /// Runs `work` on the set of a permit, unless its file was replaced.
    #[inline(always)]
    fn with_set<R>(&self, permit: &PermitSlot, work: impl FnOnce(&Set) -> R) -> Option<R> {
        let file = &self.table.file;
        if file.number() != permit.file {
            return None;
        }
        let region = file.region();
        let sets = region.as_ref()?.area::<Set>(Area::Permits);
        Places::new(sets, permit.hash)?.get(permit.nth).map(|(set, _)| work(set))
    }
}

impl KeyPermits<'_> {
    /// Takes the first permit that is free.
    #[inline(always)]
    fn take_first(&self, max: u32, held: HeldSlot) -> Option<(u32, Slot)> {
        (0..max).zip(self.places.iter()).find_map(|(n, (set, tag))| {
            held::take(&set.0, tag, self.now, held).map(|taken| (n, taken))
        })
    }

    /// Whether one of the first `max` permits has no slot: a call that finds none free is denied because the table was full.
    fn lacks_room(&self, max: u32) -> bool {
        (0..max).zip(self.places.iter()).any(|(_, (set, tag))| !held::has_slot(&set.0, tag))
    }

    /// Takes one of the first `max` permits, if no more than `most` of them are held then.
    #[inline(always)]
    fn take(&self, max: u32, most: u32, held: HeldSlot) -> Option<(u32, Slot)> {
        if most == max {
            return self.take_first(max, held);
        }
        let places = |n| self.places.get(n).map(|(set, tag)| (set.0.as_slice(), tag));
        held::take_leaving(&places, max, most, self.now, held)
    }

    /// Takes a permit once those of dead holders are free, in a call that finds too few free.
    #[cold]
    fn take_from_dead(
        &self,
        max: u32,
        most: u32,
        held: HeldSlot,
        caller: &Holder,
    ) -> Option<(u32, Slot)> {
        let mut living = caller.ask_about_others(MAX_ASKED, self.region);
        let has_freed = self.free_dead(max, random() % max, &mut living);
        let taken = if has_freed { self.take(max, most, held) } else { None };
        // A call that leaves permits is denied while places are free, which may have no slot yet.
        if taken.is_none() && most == max && self.lacks_room(max) {
            TableStatistics::in_file(self.region).note_denied_newcomer();
        }
        taken
    }

    /// Frees those of the first `max` permits whose holders have died, and where a permit has no slot,
    /// those of others that take its place. Begins with permit `first`. Returns whether one was freed.
    fn free_dead(&self, max: u32, first: u32, living: &mut Living) -> bool {
        let mut has_freed = false;
        for n in (0..max).map(|n| (n + first) % max) {
            let Some((set, tag)) = self.places.get(n) else { break };
            let is_ours = |slot: &Slot| slot.tag() == tag;
            let has_slot = held::has_slot(&set.0, tag);
            let slots = set.0.iter().map(|word| Slot(word.load(Ordering::Relaxed)));
            for slot in slots.filter(|slot| !has_slot || is_ours(slot)) {
                has_freed |= self.is_dead(slot, living) && held::free(&set.0, slot);
            }
        }
        has_freed
    }

    fn is_dead(&self, slot: Slot, living: &mut Living) -> bool {
        let held = slot.as_held().filter(|_| held::is_held(slot, self.now));
        held.is_some_and(|held| !living.contains(held.holder))
    }

    /// The key's permits that are held, each with its set.
    fn held(&self) -> impl Iterator<Item = (&Set, Slot)> {
        self.places
            .iter()
            .take(MAX_PERMITS as usize)
            .filter_map(|(set, tag)| held::find(&set.0, tag, self.now).map(|slot| (set, slot)))
    }

    /// Counts the permits that are held, and frees those of dead holders.
    fn count(&self, caller: &Holder) -> u32 {
        let mut living = caller.ask_about_others(MAX_PERMITS as usize, self.region);
        let mut is_free = |(set, slot): &(&Set, Slot)| {
            self.is_dead(*slot, &mut living) && held::free(&set.0, *slot)
        };
        // Fits: at most MAX_PERMITS.
        self.held().filter(|permit| !is_free(permit)).count() as u32
    }

    /// Frees all permits, also those that are renewed meanwhile.
    fn reset(&self) {
        self.held().for_each(|(set, slot)| held::reset(&set.0, slot, self.now));
    }
}

impl Permits for SharedPermits {
    fn acquire(
        &self,
        key: &Key<'_>,
        limit: &PermitLimit,
        leave: u64,
        _: &Timeouts,
    ) -> Result<Option<PermitHandle>> {
        let (max, most) = (limit.max(), limit.max_leaving(leave));
        let (hash, taken) = self.with_key(key, |permits, holder| {
            let held = HeldSlot { ends_at: permits.now + limit.lifetime(), holder: holder.next() };
            let taken = permits.take(max, most, held);
            let taken = taken.or_else(|| permits.take_from_dead(max, most, held, holder));
            (permits.hash, taken)
        })?;
        let file = self.table.file.number();
        Ok(taken.map(|(nth, Slot(word))| PermitHandle::Slot(PermitSlot { file, nth, hash, word })))
    }

    fn renew(&self, permit: &mut PermitHandle, lifetime: u64, _: &Timeouts) -> Result<bool> {
        let PermitHandle::Slot(permit) = permit else { return Ok(false) };
        let clock = boot_time();
        self.table.file.open_if_due(clock)?;
        let now = frozen().unwrap_or(clock);
        let renew = |set: &Set| held::renew(&set.0, Slot(permit.word), now, now + lifetime);
        let renewed = self.with_set(permit, renew).flatten();
        if let Some(Slot(word)) = renewed {
            permit.word = word;
        }
        Ok(renewed.is_some())
    }

    #[inline(always)]
    fn release(&self, permit: &PermitHandle, _: &Timeouts) -> Result<()> {
        if let PermitHandle::Slot(permit) = permit {
            self.with_set(permit, |set| held::free(&set.0, Slot(permit.word)));
        }
        Ok(())
    }

    fn count(&self, key: &Key<'_>, _: &Timeouts) -> Result<u32> {
        self.with_key(key, |permits, holder| permits.count(holder))
    }

    fn reset(&self, key: &Key<'_>, _: &Timeouts) -> Result<()> {
        self.with_key(key, |permits, _| permits.reset())
    }
}

#[cfg(test)]
mod tests;
