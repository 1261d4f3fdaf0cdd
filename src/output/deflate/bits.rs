//! Bits in the order of deflate: the first is the lowest of a byte.

/// Appends to a vector; up to seven bits wait for the rest of their byte.
pub struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    waiting: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            waiting: 0,
            count: 0,
        }
    }

    /// The low `count` bits of `bits`, the lowest first; at most 57, and none is set above them.
    #[inline(always)]
    pub fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= 57 && bits >> count == 0);
        self.waiting |= bits << self.count;
        self.count += count;
        let whole = (self.count / 8) as usize;
        // Eight bytes at once, of which `whole` count, are quicker than as many as there are.
        let length = self.out.len();
        self.out.extend_from_slice(&self.waiting.to_le_bytes());
        self.out.truncate(length + whole);
        self.waiting = match whole {
            8 => 0,
            _ => self.waiting >> (8 * whole),
        };
        self.count %= 8;
    }

    /// Zeros up to a whole byte.
    pub fn align(&mut self) {
        self.put(0, (8 - self.count) % 8);
    }

    /// Whole bytes; to be called where bits are aligned.
    pub fn bytes(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.count, 0);
        self.out.extend_from_slice(bytes);
    }

    pub fn finish(mut self) {
        self.align();
    }
}
