//! A word of shared memory under the model checker.
//!
//! It is a mutex, which gives a single order of all operations, as sequentially consistent atomics do. (loom models those as
//! weaker than they are.)

use loom::sync::Mutex;
use token_bucket::mapped::word::Word;

pub struct Modelled<T = u128>(Mutex<T>);

impl<T> Modelled<T> {
    pub fn new(word: T) -> Self {
        Self(Mutex::new(word))
    }
}

impl<T: Copy + PartialEq> Word<T> for Modelled<T> {
    fn load(&self) -> T {
        *self.0.lock().unwrap()
    }

    fn replace(&self, old: T, new: T) -> bool {
        let mut word = self.0.lock().unwrap();
        let same = *word == old;
        if same {
            *word = new;
        }
        same
    }

    fn store(&self, word: T) {
        *self.0.lock().unwrap() = word;
    }
}
