//! Seeded randomness: splitmix64. The same seed makes the same script on every machine.

/// A stream of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// A number from `range`.
    pub fn within(&mut self, range: std::ops::Range<usize>) -> usize {
        let span = u64::try_from(range.len()).unwrap();
        range.start + usize::try_from(self.below(span)).unwrap()
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of `choices`.
    pub fn one_of<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.within(0..choices.len())]
    }
}
