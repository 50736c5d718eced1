//! The time of one decision without PHP: of the arithmetic alone, and on shared memory.
//!
//! Run with `cargo bench`. `make bench` compares the extension with other rate limiters in PHP.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use std::cell::Cell;
use std::hint::black_box;
use token_bucket::clock::boot_time;
use token_bucket::limit::{Limit, Op, SECOND, State, TokenBucket, apply};
use token_bucket::store::file::{Location, MIN_SIZE, Purpose};
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::{Key, KeyHash, LimitKind, Request, Store, Timeouts};

fn arithmetic(criterion: &mut Criterion) {
    let Ok(limit) = TokenBucket::per_second(10, 1.0).map(Limit::from) else { return };
    let (_, state) = apply(&limit, State::FULL, SECOND, Op::Take { cost: 3 });
    for (name, op) in
        [("take", Op::Take { cost: 1 }), ("denied", Op::Take { cost: 8 }), ("check", Op::Check)]
    {
        criterion.bench_function(&format!("apply/{name}"), |bencher| {
            bencher.iter(|| apply(black_box(&limit), black_box(state), black_box(SECOND), op));
        });
    }
    criterion.bench_function("clock", |bencher| bencher.iter(boot_time));
}

fn shared_memory(criterion: &mut Criterion) {
    let base = std::env::temp_dir().join(format!("tb-bench-{}", std::process::id()));
    if std::fs::create_dir_all(&base).is_err() {
        return;
    }
    let store = SharedMemory::new(Location {
        base: base.clone(),
        name: "bench".into(),
        size: MIN_SIZE,
        purpose: Purpose::Buckets,
    });
    let key_hash = Cell::new(KeyHash::default());
    let key = Key {
        parts: [b"tb:", b"192.0.2.1", b"", b""],
        key_hash: &key_hash,
        kind: LimitKind::TokenBucket,
    };
    let Ok(limit) = TokenBucket::per_second(1_000_000_000, 1000.0).map(Limit::from) else { return };
    let timeouts = Timeouts::default();
    criterion.bench_function("shared memory/take", |bencher| {
        let (op, frozen, evicted) = (Op::Take { cost: 1 }, None, &Cell::new(false));
        let request =
            Request { key: &key, limit: &limit, op: &op, frozen, timeouts: &timeouts, evicted };
        bencher.iter(|| store.admits(&request));
    });
    let _ = std::fs::remove_dir_all(base);
}

criterion_group!(benches, arithmetic, shared_memory);
criterion_main!(benches);
