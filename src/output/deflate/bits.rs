//! A writer of bits in the order of deflate: the first is the lowest of a byte.

/// Appends bits to a vector; up to seven wait for the rest of their byte.
pub struct BitWriter<'a> {
    /// Longer than what is written, so that whole words can be stored.
    out: &'a mut Vec<u8>,
    length: usize,
    waiting: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { length: out.len(), out, waiting: 0, count: 0 }
    }

    /// Makes room for `bytes` bytes at once, which is quicker than doing so time and again.
    pub fn reserve(&mut self, bytes: usize) {
        let needed = self.length + bytes + size_of::<u64>();
        if self.out.len() < needed {
            self.out.resize(needed, 0);
        }
    }

    /// Appends the low `count` bits of `bits`, at most 57, the lowest first. No bit above them may be set.
    #[inline(always)]
    pub fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= 57 && bits >> count == 0);
        self.waiting |= bits << self.count;
        let total = self.count + count;
        let whole = total / 8;
        self.store(self.waiting);
        self.length += whole as usize;
        self.waiting = self.waiting.checked_shr(8 * whole).unwrap_or(0);
        self.count = total % 8;
    }

    /// Stores eight bytes at once, of which only whole ones will count: that is quicker than storing just these.
    #[inline(always)]
    fn store(&mut self, word: u64) {
        let place = self.length..self.length + size_of::<u64>();
        if self.out.len() < place.end {
            self.reserve(1 << 12);
        }
        self.out[place].copy_from_slice(&word.to_le_bytes());
    }

    /// Appends zeros up to a whole byte.
    pub fn align(&mut self) {
        self.put(0, (8 - self.count) % 8);
    }

    /// Appends whole bytes. Bits must be aligned.
    pub fn bytes(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.count, 0);
        self.reserve(bytes.len());
        self.out[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    pub fn finish(mut self) {
        self.align();
        self.out.truncate(self.length);
    }
}
