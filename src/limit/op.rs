//! What a caller asks of a bucket.

/// An operation on a bucket, or on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Takes `cost` tokens if all of them are there, else nothing.
    Take {
        /// Tokens. 0 takes nothing and is accepted.
        cost: u64,
    },
    /// Takes as many of `most` tokens as are there, if that is at least `least`, else nothing.
    TakeUpTo {
        /// Tokens.
        most: u64,
        /// Tokens: at most `most`.
        least: u64,
        /// So many must be left afterwards. Of several calls, those that leave most are denied first.
        leave: u64,
    },
    /// Answers as `Take` would, and changes nothing.
    Peek {
        /// Tokens.
        cost: u64,
    },
    /// Takes one token whether or not it is there, and denies the call if it was not. A client
    /// that keeps calling stays limited; one that is silent for a full refill starts afresh. From a bucket that owes reservations or
    /// settlements, or that other numbers have emptied, a denied call takes nothing.
    Check,
    /// Takes `cost` tokens, in advance if need be, unless the wait is longer than `max_wait`.
    Reserve {
        /// Tokens.
        cost: u64,
        /// Nanoseconds.
        max_wait: u64,
    },
    /// Gives `cost` tokens back, never above the capacity.
    Refund {
        /// Tokens.
        cost: u64,
        /// The [`expires_at`](super::Decision::expires_at) of the decision that took them. A token bucket
        /// gives back no more than would still be missing without later calls: what came back by itself
        /// is not given twice. A fixed or calendar window gives nothing back if another one is open. `None`: no
        /// such bound.
        expiry: Option<u64>,
    },
    /// Takes what a call cost beyond its estimate, also if the bucket has less: then it owes one capacity at most, which no `Check`
    /// forgives. A sliding window fills up and no more. Denied by a block, and by a fixed or calendar window if another one is open.
    Settle {
        /// Tokens.
        cost: u64,
        /// The [`expires_at`](super::Decision::expires_at) of the decision that took the estimate: names the
        /// window.
        expiry: u64,
    },
    /// Takes as [`TakeUpTo`](Self::TakeUpTo) does, for a host that hands out by itself what exceeds `least`. The decision's
    /// [`wait`](super::Decision::wait) is the name of the state.
    Lease {
        /// Tokens.
        most: u64,
        /// Tokens: at most `most`.
        least: u64,
        /// The name of the state that the host took from before. 0 if it holds nothing.
        known: u32,
        /// The name of the state, if it gets one now.
        fresh: u32,
        /// How many tokens of that state the host has handed out since it has said so last.
        spent: u64,
    },
    /// Gives tokens back that a host has taken ahead and not handed out. Denied by another state than the one they were taken from.
    GiveBack {
        /// Tokens.
        cost: u64,
        /// The name of the state that they were taken from.
        known: u32,
    },
    /// Makes the bucket full, and ends a block.
    Reset,
    /// Denies all calls for a time, or as long as an earlier block lasts if that ends later.
    Block {
        /// Nanoseconds, at most [`MAX_BLOCK`](super::MAX_BLOCK).
        duration: u64,
    },
    /// Sets the level of a bucket that is full, or that has no state yet; denied if it is not full.
    Start {
        /// The time until the bucket is full, in nanoseconds.
        missing: u64,
    },
}

impl Op {
    /// Whether the operation takes hits of a window if enough of them are left.
    pub const fn takes_hits(self) -> bool {
        !matches!(
            self,
            Self::Peek { .. }
                | Self::Refund { .. }
                | Self::GiveBack { .. }
                | Self::Reset
                | Self::Block { .. }
        )
    }

    /// The tokens or hits that the operation asks for.
    pub const fn cost(self) -> u64 {
        match self {
            Self::Take { cost } | Self::Peek { cost } | Self::Reserve { cost, .. } => cost,
            Self::TakeUpTo { most, .. } | Self::Lease { most, .. } => most,
            Self::Check => 1,
            Self::Refund { .. }
            | Self::GiveBack { .. }
            | Self::Settle { .. }
            | Self::Reset
            | Self::Block { .. }
            | Self::Start { .. } => 0,
        }
    }

    /// The operation that takes this cost if `leave` is left afterwards.
    pub const fn take(cost: u64, leave: u64) -> Self {
        match leave {
            0 => Self::Take { cost },
            _ => Self::TakeUpTo { most: cost, least: cost, leave },
        }
    }

    /// The operation that is accepted only if `leave` is left afterwards. One that takes nothing stays as it is, but for a
    /// peek.
    #[must_use]
    pub const fn leaving(self, leave: u64) -> Self {
        match self {
            Self::Take { cost } => Self::take(cost, leave),
            Self::TakeUpTo { most, least, .. } => Self::TakeUpTo { most, least, leave },
            Self::Peek { cost } => Self::Peek { cost: cost.saturating_add(leave) },
            Self::Refund { .. }
            | Self::GiveBack { .. }
            | Self::Settle { .. }
            | Self::Reset
            | Self::Block { .. }
            | Self::Start { .. } => self,
            // They take what may not be there: no caller lets them leave anything.
            Self::Check | Self::Reserve { .. } | Self::Lease { .. } => self,
        }
    }

    /// The tokens or hits that must be there for the operation to be accepted.
    pub const fn needs(self) -> u64 {
        match self {
            Self::TakeUpTo { least, leave, .. } => least.saturating_add(leave),
            Self::Lease { least, .. } => least,
            other => other.cost(),
        }
    }

    /// The operation that answers as this one does, and changes nothing.
    #[must_use]
    pub const fn peek(self) -> Self {
        Self::Peek { cost: self.needs() }
    }

    /// Whether it takes nothing and may be accepted without a write.
    pub const fn is_read(self) -> bool {
        match self {
            Self::Peek { .. } | Self::Reset => true,
            Self::Take { cost }
            | Self::TakeUpTo { most: cost, .. }
            | Self::Reserve { cost, .. } => cost == 0,
            _ => false,
        }
    }

    /// Whether calls that were denied before may be accepted after it.
    pub const fn gives_back(self) -> bool {
        matches!(self, Self::Refund { .. } | Self::GiveBack { .. } | Self::Reset)
    }

    /// Whether it settles what an earlier call took. It moves the state by its own cost, and brings no time from the
    /// future down: the state may have been made by other numbers.
    pub const fn settles(self) -> bool {
        matches!(self, Self::Refund { .. } | Self::GiveBack { .. } | Self::Settle { .. })
    }

    /// Whether a call may be repeated if it is unknown whether the store has applied it. A repeated
    /// call charges twice at worst; a repeated refund would give back too much, and so would a later one if a host's hand-outs were
    /// counted twice.
    pub const fn may_repeat(self) -> bool {
        !matches!(
            self,
            Self::Refund { .. } | Self::GiveBack { .. } | Self::Lease { spent: 1.., .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_that_leaves_nothing_is_a_plain_one() {
        assert_eq!(Op::take(3, 0), Op::Take { cost: 3 });
        assert_eq!(Op::take(3, 2), Op::TakeUpTo { most: 3, least: 3, leave: 2 });
    }

    #[test]
    fn call_that_takes_nothing_is_a_read() {
        let of_cost = |cost| {
            let up_to = Op::TakeUpTo { most: cost, least: 0, leave: 2 };
            [Op::Take { cost }, up_to, Op::Reserve { cost, max_wait: 5 }]
        };
        let reads = of_cost(0).into_iter().chain([Op::Peek { cost: 3 }, Op::Reset]);
        assert!(reads.into_iter().all(Op::is_read));
        let writes = [Op::Check, Op::Block { duration: 1 }, Op::Settle { cost: 0, expiry: 1 }];
        assert!(!of_cost(1).into_iter().chain(writes).any(Op::is_read));
    }

    #[test]
    fn refund_alone_is_not_repeated_and_settles_as_a_further_charge_does() {
        let refund = Op::Refund { cost: 1, expiry: None };
        for op in [Op::Take { cost: 1 }, Op::Check, Op::Reset, Op::Peek { cost: 1 }] {
            assert!(op.may_repeat() && !op.settles(), "{op:?}");
        }
        let settle = Op::Settle { cost: 1, expiry: 1 };
        assert!(settle.may_repeat() && settle.settles());
        assert!(!refund.may_repeat() && refund.settles());
    }
}
