//! Keys of instances that move while the shutter is open. A TLAS uses them for boxes that enclose each instance over the whole interval.

use throng_abi::InstanceKey;

/// Keys of instances at even steps over the shutter interval. Between keys, matrices are interpolated linearly. Every point of an instance therefore
/// moves along straight lines, and the union of the keys' boxes encloses it.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct ShutterKeys {
    /// The span of each instance, in the order of a TLAS's input; empty if no instance moves.
    pub spans: Vec<ShutterSpan>,
    /// The keys of all spans.
    pub keys: Vec<InstanceKey>,
}

/// The keys of one instance: `segments` + 1 keys, starting at index `first`; none if `segments` is 0 and the instance stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct ShutterSpan {
    /// Index of the first key.
    pub first: u32,
    /// Number of segments between keys.
    pub segments: u32,
}

impl ShutterKeys {
    /// Whether no instance moves.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Removes all keys and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.spans.clear();
        self.keys.clear();
    }

    /// The span of an instance; it has no segments if the instance stands still.
    #[inline]
    pub fn span(&self, instance: usize) -> ShutterSpan {
        self.spans.get(instance).copied().unwrap_or_default()
    }

    /// The keys of a span; empty if it has no segments.
    #[inline]
    pub fn of(&self, span: ShutterSpan) -> &[InstanceKey] {
        let count = match span.segments {
            0 => 0,
            segments => segments as usize + 1,
        };
        let first = span.first as usize;
        self.keys.get(first..first + count).unwrap_or_default()
    }
}
