//! The bookkeeping of memory that is used again: which piece is taken next, and which are no longer worth keeping.

/// Number of pieces taken after which the demand is measured again.
const PERIOD: u32 = 64;
/// Maximum of the memory that is held, as a multiple of the most that was in use at once in the last periods.
const FACTOR: usize = 2;

/// Spare pieces of memory. Sizes are in bytes.
pub struct Spares<T> {
    /// Spare pieces with their sizes, the one that was put back first at the start.
    pieces: Vec<(usize, T)>,
    /// Total size of the pieces in use.
    lent: usize,
    /// Most that was in use at once in this period and in the one before.
    most: [usize; 2],
    /// Number of pieces lent in this period.
    count: u32,
}

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), lent: 0, most: [0; 2], count: 0 }
    }
}

impl<T> Spares<T> {
    /// Takes the smallest piece of at least `bytes`. Pieces of more than twice the size are for other uses.
    pub fn take(&mut self, bytes: usize) -> Option<T> {
        let fits =
            self.pieces.iter().enumerate().filter(|(_, (size, _))| (bytes..=bytes.saturating_mul(2)).contains(size));
        let (index, _) = fits.min_by_key(|(_, (size, _))| *size)?;
        Some(self.pieces.remove(index).1)
    }

    /// Counts a piece that is in use from now on.
    pub fn lend(&mut self, bytes: usize) {
        if self.count == PERIOD {
            self.most = [self.lent, self.most[0]];
            self.count = 0;
        }
        self.count += 1;
        self.lent += bytes;
        self.most[0] = self.most[0].max(self.lent);
    }

    /// Puts back a piece that was in use.
    pub fn put(&mut self, bytes: usize, piece: T) {
        self.lent -= bytes;
        self.pieces.push((bytes, piece));
    }

    /// Total size of the spare pieces.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|(size, _)| size).sum()
    }

    /// Removes the oldest pieces as long as too much memory is held.
    pub fn surplus(&mut self) -> Vec<T> {
        let most = FACTOR * self.most[0].max(self.most[1]);
        let mut held = self.lent + self.bytes();
        let is_surplus = |(size, _): &&(usize, T)| {
            let is = held > most;
            held -= size;
            is
        };
        let count = self.pieces.iter().take_while(is_surplus).count();
        self.pieces.drain(..count).map(|(_, piece)| piece).collect()
    }

    /// Removes all spare pieces.
    pub fn all(&mut self) -> Vec<T> {
        self.pieces.drain(..).map(|(_, piece)| piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_piece_that_fits_is_taken() {
        let mut spares = Spares::default();
        for bytes in [400, 100, 150, 90] {
            spares.lend(bytes);
            spares.put(bytes, bytes);
        }
        assert_eq!(spares.take(95), Some(100));
        assert_eq!(spares.take(95), Some(150));
        assert_eq!(spares.take(95), None, "400 is for larger pictures");
        assert_eq!(spares.bytes(), 490);
    }

    #[test]
    fn memory_is_kept_for_the_greatest_demand_and_released_after_it() {
        let mut spares: Spares<usize> = Spares::default();
        let use_once = |spares: &mut Spares<usize>, count: usize| {
            for _ in 0..count {
                let _ = spares.take(10);
                spares.lend(10);
            }
            let released = spares.surplus().len();
            (0..count).for_each(|_| spares.put(10, 10));
            released
        };
        assert_eq!(use_once(&mut spares, 50), 0);
        assert_eq!(spares.bytes(), 500);
        assert_eq!(use_once(&mut spares, 1), 0, "a call with 50 pictures may follow");
        let released: usize = (0..3 * PERIOD).map(|_| use_once(&mut spares, 1)).sum();
        assert!(released >= 48, "{released}");
        assert!(spares.bytes() <= 20);
        spares.all();
        assert_eq!(spares.bytes(), 0);
    }
}
