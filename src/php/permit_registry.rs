//! The permits that the request holds. What is left at its end is given back there.
//!
//! A permit is registered before its object is made, since the memory limit may end the script in between.

use super::events::log_event;
use crate::limiter::HeldPermit;
use std::cell::{Cell, RefCell};

/// The permits that a worker, or a thread, holds in its request.
///
/// They are here and not in their objects: after a fatal error the engine runs no destructors, and frees
/// objects after the end of the request, if at all.
#[derive(Default)]
pub struct PermitRegistry {
    /// Each with its number. A request holds few, and mostly gives the latest back first: the list is searched from its end.
    held: RefCell<Vec<(u64, HeldPermit)>>,
    /// Counts the permits that were added.
    added: Cell<u64>,
}

/// The number of a permit in the registry, which no other one has later.
#[derive(Clone, Copy)]
pub struct RegisteredPermit(u64);

impl PermitRegistry {
    /// Adds a permit.
    pub fn add(&self, permit: HeldPermit) -> RegisteredPermit {
        let number = self.added.get() + 1;
        self.added.set(number);
        self.held.borrow_mut().push((number, permit));
        RegisteredPermit(number)
    }

    /// Removes a permit; none if it was given back, or its request has ended.
    pub fn take(&self, RegisteredPermit(number): RegisteredPermit) -> Option<HeldPermit> {
        let mut held = self.held.borrow_mut();
        let at = held.iter().rposition(|(other, _)| *other == number)?;
        Some(held.swap_remove(at).1)
    }

    /// Runs `work` on a permit; none if it was given back, or its request has ended. No PHP code may run
    /// meanwhile.
    pub fn with<R>(
        &self,
        RegisteredPermit(number): RegisteredPermit,
        work: impl FnOnce(&mut HeldPermit) -> R,
    ) -> Option<R> {
        let mut held = self.held.borrow_mut();
        let (_, permit) = held.iter_mut().rfind(|(other, _)| *other == number)?;
        Some(work(permit))
    }

    /// Gives back all permits, at the end of a request.
    pub fn end_request(&self) {
        while let Some(permit) = self.take_any() {
            // At the end of a request no PHP code may run any more.
            log_event(permit.release().event);
        }
    }

    /// Not in the loop, where the borrow would last while the permit is given back.
    fn take_any(&self) -> Option<HeldPermit> {
        Some(self.held.borrow_mut().pop()?.1)
    }
}
