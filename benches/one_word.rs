//! The floor of several processes on one bucket in shared memory: threads that read the clock and change one word, and nothing else.
//!
//! ```text
//! cargo bench --bench one_word
//! ```
//!
//! Prints JSON: for each number of threads the changes a second, the best of some rounds. docs/fleet/tables.md compares them with the extension.

use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};
use token_bucket::clock::boot_time;

const ROUNDS: usize = 5;
const SECONDS: Duration = Duration::from_millis(400);

/// The words, on cache lines of their own.
#[derive(Default)]
#[repr(align(128))]
struct Words {
    counter: AtomicU64,
    bucket: AtomicU128,
}

fn main() -> std::io::Result<()> {
    let results = [1, 2].map(|threads| {
        let (add, swap) = (best(threads, add), best(threads, swap));
        format!("\"{threads}\": {{\"add\": {add:.0}, \"swap\": {swap:.0}}}")
    });
    writeln!(std::io::stdout(), "{{{}}}", results.join(", "))
}

/// Adds, which cannot fail.
fn add(words: &Words) {
    words.counter.fetch_add(black_box(boot_time()), Ordering::SeqCst);
}

/// Reads and swaps until no other thread was faster, as a decision does.
fn swap(words: &Words) {
    let now = u128::from(black_box(boot_time()));
    let mut seen = words.bucket.load(Ordering::SeqCst);
    while let Err(other) =
        words.bucket.compare_exchange(seen, seen ^ now, Ordering::SeqCst, Ordering::SeqCst)
    {
        seen = other;
    }
}

fn best(threads: usize, change: fn(&Words)) -> f64 {
    (0..ROUNDS).map(|_| changes_a_second(threads, change)).fold(0.0, f64::max)
}

fn changes_a_second(threads: usize, change: fn(&Words)) -> f64 {
    let (words, is_over) = (Words::default(), AtomicBool::new(false));
    let done = AtomicU64::new(0);
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = 0;
                while !is_over.load(Ordering::Relaxed) {
                    (0..1_000).for_each(|_| change(&words));
                    own += 1_000;
                }
                done.fetch_add(own, Ordering::Relaxed);
            });
        }
        thread::sleep(SECONDS);
        is_over.store(true, Ordering::Relaxed);
    });
    done.into_inner() as f64 / began.elapsed().as_secs_f64()
}
