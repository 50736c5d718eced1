//! What the ports of `limit::apply` are asked, those that run on a server in its own language.

use crate::limit::{Limit, Op};

/// An operation as a port takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedOp {
    /// `T`ake, `R`eserve, `C`heck, re`F`und, `S`tart, reset (`X`) or peek (`P`); `N` for nothing to
    /// take, which is accepted, and `D` for more than there can be, which is denied.
    pub opcode: char,
    /// Tokens or hits.
    pub cost: u64,
}

/// What to ask for this operation. What a window does not know is what it does instead.
pub fn encode(limit: &Limit, op: Op) -> EncodedOp {
    let most = limit.capacity();
    let window = matches!(limit, Limit::FixedWindow(_));
    let (opcode, cost) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } => ('N', 0),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > most => ('D', 0),
        Op::Take { cost } => ('T', cost),
        Op::Reserve { cost, .. } => (if window { 'T' } else { 'R' }, cost),
        Op::Check => (if window { 'T' } else { 'C' }, 1),
        Op::Refund { cost: 0 } if window => ('N', 0),
        // More than there can be is all there is.
        Op::Refund { cost } => ('F', if window { cost.min(most) } else { cost }),
        Op::Reset => ('X', 0),
        Op::Start { .. } => (if window { 'D' } else { 'S' }, 0),
        Op::Peek { .. } => ('P', 0),
    };
    EncodedOp { opcode, cost }
}
