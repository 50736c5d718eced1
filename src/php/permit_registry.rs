//! The permits that the request holds. What is left at its end is given back there.
//!
//! A permit is registered before its object is made, since the memory limit may end the script in between.

use super::events::log_event;
use crate::limiter::HeldPermit;
use std::cell::RefCell;

/// The permits that a worker, or a thread, holds in its request.
///
/// They are here and not in their objects: after a fatal error the engine runs no destructors, and frees
/// objects after the end of the request, if at all.
#[derive(Default)]
pub struct PermitRegistry(RefCell<Entries>);

#[derive(Default)]
struct Entries {
    slots: Vec<RegistryEntry>,
    /// The slots without a permit.
    free: Vec<usize>,
    /// Counts the permits that were added.
    added: u64,
}

struct RegistryEntry {
    number: u64,
    permit: Option<HeldPermit>,
}

/// Where a permit is in the registry. It names no other permit later.
#[derive(Clone, Copy)]
pub struct RegisteredPermit {
    at: usize,
    number: u64,
}

impl PermitRegistry {
    /// Adds a permit.
    pub fn add(&self, permit: HeldPermit) -> RegisteredPermit {
        let mut entries = self.0.borrow_mut();
        entries.added += 1;
        let (number, permit) = (entries.added, Some(permit));
        let free = entries.free.pop();
        let at = free.unwrap_or(entries.slots.len());
        match entries.slots.get_mut(at) {
            Some(slot) => *slot = RegistryEntry { number, permit },
            None => entries.slots.push(RegistryEntry { number, permit }),
        }
        RegisteredPermit { at, number }
    }

    /// Removes a permit; none if it was given back, or its request has ended.
    pub fn take(&self, RegisteredPermit { at, number }: RegisteredPermit) -> Option<HeldPermit> {
        let mut entries = self.0.borrow_mut();
        let slot = entries.slots.get_mut(at).filter(|slot| slot.number == number)?;
        let permit = slot.permit.take()?;
        entries.free.push(at);
        Some(permit)
    }

    /// Runs `work` on a permit; none if it was given back, or its request has ended. No PHP code may run
    /// meanwhile.
    pub fn with<R>(
        &self,
        RegisteredPermit { at, number }: RegisteredPermit,
        work: impl FnOnce(&mut HeldPermit) -> R,
    ) -> Option<R> {
        let mut entries = self.0.borrow_mut();
        let slot = entries.slots.get_mut(at).filter(|slot| slot.number == number)?;
        slot.permit.as_mut().map(work)
    }

    /// Gives back all permits, at the end of a request. `frozen` is the time of a test's clock.
    pub fn end_request(&self, frozen: Option<u64>) {
        while let Some(permit) = self.take_any() {
            // At the end of a request no PHP code may run any more.
            log_event(permit.release(frozen).event);
        }
    }

    fn take_any(&self) -> Option<HeldPermit> {
        let mut entries = self.0.borrow_mut();
        // None is left at its place, also if the caller panics before all are taken.
        entries.free.clear();
        while let Some(entry) = entries.slots.pop() {
            if entry.permit.is_some() {
                return entry.permit;
            }
        }
        None
    }
}
