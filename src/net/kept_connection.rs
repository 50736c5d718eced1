//! A connection that is kept from call to call.

use super::budget::Budget;
use super::failure::Failure;
use super::pause::Moment;
use super::round_trip::RoundTrip;
use std::cell::RefCell;
use std::rc::Rc;

/// A connection that may be used again.
pub trait Reusable {
    /// Whether this process opened it.
    fn is_own(&self) -> bool;

    /// Whether a call may be made on it: this process opened it, the server has not closed it, and nothing of
    /// an earlier call is unread.
    fn is_reusable(&mut self) -> bool;

    /// Checks that the server answers on a new connection, if opening it took no answer.
    fn verify(&mut self, _: Moment) -> Result<(), Failure> {
        Ok(())
    }
}

/// The connection to a server, once it is open.
pub struct KeptConnection<C> {
    kept: RefCell<Option<C>>,
    /// How long a trip to the server takes.
    pub round_trip: Rc<RoundTrip>,
}

impl<C> Default for KeptConnection<C> {
    fn default() -> Self {
        Self { kept: RefCell::new(None), round_trip: Rc::default() }
    }
}

impl<C: Reusable> KeptConnection<C> {
    /// Calls `work` with the connection and a deadline; `open` makes a connection if there is none to use.
    /// A connection on which `work` failed is closed, for its answer may yet come; a refusal is an answer.
    ///
    /// If an idle connection was lost and `work` `may_repeat`, it is called once more with a new connection.
    /// Otherwise a new connection shows whether the server is up: if so, the failure is
    /// [`Failure::LostIdle`].
    pub fn call<R>(
        &self,
        budget: &mut Budget,
        may_repeat: bool,
        open: impl Fn(Moment) -> Result<C, Failure>,
        work: impl Fn(&mut C, Moment) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mut kept = self.kept.borrow_mut();
        loop {
            let reused = kept.take().and_then(|mut it| it.is_reusable().then_some(it));
            let was_idle = reused.is_some();
            let mut connection = match reused {
                Some(connection) => connection,
                None => open(budget.connect_by())?,
            };
            match work(&mut connection, budget.answer_by()) {
                Err(failure) if failure.is_lost() && was_idle => {
                    if may_repeat && budget.is_left() {
                        continue;
                    }
                    drop(kept);
                    return Err(self.after_loss(budget, open));
                }
                result => {
                    if matches!(result, Ok(_) | Err(Failure::Refused { .. })) {
                        *kept = Some(connection);
                    }
                    return result;
                }
            }
        }
    }

    /// Calls `work` with the connection, if there is a reusable one that `is_right`. None if there is not.
    pub fn call_only_on<R>(
        &self,
        budget: &Budget,
        is_right: impl Fn(&C) -> bool,
        work: impl Fn(&mut C, Moment) -> Result<R, Failure>,
    ) -> Option<Result<R, Failure>> {
        let mut kept = self.kept.borrow_mut();
        let mut connection = kept.take().and_then(|mut it| it.is_reusable().then_some(it))?;
        let result = is_right(&connection).then(|| work(&mut connection, budget.answer_by()));
        if matches!(result, None | Some(Ok(_) | Err(Failure::Refused { .. }))) {
            *kept = Some(connection);
        }
        result
    }

    /// Opens a connection if there is none.
    pub fn open_if_none(
        &self,
        budget: &mut Budget,
        open: impl Fn(Moment) -> Result<C, Failure>,
    ) -> Result<(), Failure> {
        if !self.is_open() {
            let opened = open(budget.connect_by())?;
            self.kept.replace(Some(opened));
        }
        Ok(())
    }

    /// Opens a new connection after one was lost with a call that must not be repeated. Returns the failure
    /// of that call.
    pub fn after_loss(
        &self,
        budget: &mut Budget,
        open: impl Fn(Moment) -> Result<C, Failure>,
    ) -> Failure {
        let by = budget.connect_by();
        let verified = open(by).and_then(|mut it| it.verify(by).map(|()| it));
        match verified {
            Ok(connection) => {
                self.kept.replace(Some(connection));
                Failure::LostIdle
            }
            Err(failure) => failure,
        }
    }

    /// Looks at the connection, if there is one.
    pub fn with<R>(&self, look: impl FnOnce(&C) -> R) -> Option<R> {
        self.kept.borrow().as_ref().map(look)
    }

    /// Whether this process has a connection.
    pub fn is_open(&self) -> bool {
        self.kept.borrow().as_ref().is_some_and(C::is_own)
    }

    /// Closes the connection if it cannot be used any more. Returns whether there is one.
    pub fn keep_if_reusable(&self) -> bool {
        let mut kept = self.kept.borrow_mut();
        *kept = kept.take().and_then(|mut it| it.is_reusable().then_some(it));
        kept.is_some()
    }

    /// Closes the connection.
    pub fn close(&self) {
        self.kept.take();
    }
}
