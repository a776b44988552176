//! Chance that can be had again: every draw follows from words that say what it is for. Two runs of a trial never share a
//! seed, since with two options the same seed draws the same answer.

use actum_core::Digest;

/// The seed for these words. Fits 53 bits, so that it survives every JSON parser.
pub fn seed(words: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let digest = Digest::of("actum-lab/seed/v1", &parts);
    let number =
        digest.as_bytes().iter().take(7).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    number >> 3
}

/// Numbers that follow from a seed (`SplitMix64`, Steele et al. 2014). Not for secrets.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice for these words.
    pub fn new(words: &[&str]) -> Self {
        Self(seed(words))
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.roll() % end).unwrap_or_default()
    }

    /// So many of these, in an order of its own.
    pub fn sample<'a, T>(&mut self, of: &'a [T], count: usize) -> Vec<&'a T> {
        let mut all: Vec<&T> = of.iter().collect();
        self.shuffle(&mut all);
        all.truncate(count);
        all
    }

    /// Puts them into an order of its own (Fisher-Yates).
    pub fn shuffle<T>(&mut self, of: &mut [T]) {
        for last in (1..of.len()).rev() {
            of.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_give_the_same_seed_and_others_another() {
        assert_eq!(seed(&["a", "b"]), seed(&["a", "b"]));
        assert_ne!(seed(&["a", "b"]), seed(&["ab", ""]));
        assert!(seed(&["a"]) < 1 << 53);
    }

    #[test]
    fn a_sample_holds_each_thing_once() {
        let mut dice = Dice::new(&["sample"]);
        let all: Vec<u32> = (0..20).collect();
        let mut taken = dice.sample(&all, 20);
        taken.sort();
        assert_eq!(taken, all.iter().collect::<Vec<_>>());
        assert_eq!(dice.sample(&all, 3).len(), 3);
    }
}
