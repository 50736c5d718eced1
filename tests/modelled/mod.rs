//! A word of shared memory under the model checker.
//!
//! It is a mutex, which gives a single order of all operations, as sequentially consistent atomics do. (loom models those as
//! weaker than they are.)

use loom::sync::Mutex;
use token_bucket::store::shm::word::Word;

pub struct Modelled(Mutex<u128>);

impl Modelled {
    pub fn new(word: u128) -> Self {
        Self(Mutex::new(word))
    }
}

impl Word for Modelled {
    fn load(&self) -> u128 {
        *self.0.lock().unwrap()
    }

    fn replace(&self, old: u128, new: u128) -> bool {
        let mut word = self.0.lock().unwrap();
        let same = *word == old;
        if same {
            *word = new;
        }
        same
    }

    fn store(&self, word: u128) {
        *self.0.lock().unwrap() = word;
    }
}
