//! A short text in shared memory.

use portable_atomic::{AtomicU64, Ordering};
use std::sync::atomic::AtomicU32;

/// A text of at most `WORDS * 8` bytes that another process may be writing: its length, and eight
/// bytes to a word. A reader may see a mix of two texts.
#[repr(C)]
pub struct SharedText<const WORDS: usize> {
    length: AtomicU32,
    reserved: AtomicU32,
    words: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Default for SharedText<WORDS> {
    fn default() -> Self {
        let words = std::array::from_fn(|_| AtomicU64::new(0));
        Self { length: AtomicU32::new(0), reserved: AtomicU32::new(0), words }
    }
}

impl<const WORDS: usize> SharedText<WORDS> {
    /// Writes as much of `text` as there is room for.
    pub fn write(&self, text: &[u8]) {
        let text = text.get(..WORDS * 8).unwrap_or(text);
        let (wholes, rest) = text.as_chunks::<8>();
        let mut last = [0u8; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        for (word, bytes) in self.words.iter().zip(wholes.iter().chain([&last])) {
            let new = u64::from_le_bytes(*bytes);
            // Writing an equal word would take its cache line away from other processes.
            if word.load(Ordering::Relaxed) != new {
                word.store(new, Ordering::Relaxed);
            }
        }
        if self.length.load(Ordering::Relaxed) != text.len() as u32 {
            self.length.store(text.len() as u32, Ordering::Release);
        }
    }

    /// Reads the text.
    pub fn read(&self) -> Vec<u8> {
        let length = self.length.load(Ordering::Acquire) as usize;
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        words.flatten().take(length).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_to_the_room_there_is() {
        let text = SharedText::<2>::default();
        for (written, read) in [
            (&b"a name of more than sixteen"[..], &b"a name of more t"[..]),
            (b"login", b"login"),
            (b"", b""),
        ] {
            text.write(written);
            assert_eq!(text.read(), read);
        }
    }
}
