//! Ways to damage a glTF file that get past the first check: numbers, indices and names of its JSON change, bytes of
//! its buffers flip, parts go missing or appear twice.

use std::ops::Range;

/// splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, file: u64, number: u64) -> Self {
        let mut random = Self(seed);
        for part in [file, number] {
            random.0 = random.next() ^ part;
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(from.len());
        from.get(at)
    }
}

/// A file, taken apart.
pub struct Original {
    json: Vec<u8>,
    /// None for a file that is text.
    bin: Option<Vec<u8>>,
    /// Numbers and strings of the JSON that are not long data.
    numbers: Vec<Range<usize>>,
    strings: Vec<Range<usize>>,
}

const NUMBERS: [&str; 22] = [
    "-1",
    "0",
    "1",
    "2",
    "3",
    "4",
    "12",
    "36",
    "255",
    "256",
    "5120",
    "5121",
    "5123",
    "5125",
    "5126",
    "65535",
    "2147483648",
    "4294967295",
    "18446744073709551615",
    "1e39",
    "0.5",
    "null",
];
const LONGEST: usize = 200;

impl Original {
    pub fn new(bytes: Vec<u8>) -> Self {
        let word = |at: usize| {
            bytes
                .get(at..at + 4)?
                .try_into()
                .ok()
                .map(u32::from_le_bytes)
        };
        let length = word(12).unwrap_or(0) as usize;
        let (json, bin) = match bytes.starts_with(b"glTF") {
            true => {
                let json = bytes.get(20..20 + length).unwrap_or_default();
                (
                    json.to_vec(),
                    Some(bytes.get(28 + length..).unwrap_or_default().to_vec()),
                )
            }
            false => (bytes, None),
        };
        let (numbers, strings) = scan(&json);
        Self {
            json,
            bin,
            numbers,
            strings,
        }
    }

    /// A copy with one to three kinds of damage.
    pub fn mutated(&self, random: &mut Random) -> Vec<u8> {
        let mut json = self.json.clone();
        let mut bin = self.bin.clone();
        // From the end to the beginning, so that earlier places stay where they are.
        let mut edits: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        for _ in 0..1 + random.below(3) {
            match random.below(20) {
                0..=11 => edits.extend(self.new_number(random)),
                12 | 13 => edits.extend(self.other_string(random)),
                14 | 15 => edits.extend(self.moved_text(random)),
                16 => flip(&mut json, random),
                _ => flip(bin.as_mut().unwrap_or(&mut json), random),
            }
        }
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, text) in edits {
            let range = range.start.min(json.len())..range.end.min(json.len());
            json.splice(range, text);
        }
        let mut bytes = join(json, bin);
        if random.below(50) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        bytes
    }

    fn new_number(&self, random: &mut Random) -> Option<(Range<usize>, Vec<u8>)> {
        let range = random.pick(&self.numbers)?.clone();
        let other = random.pick(&self.numbers)?.clone();
        let text = match random.below(8) {
            0..=3 => self.json[other].to_vec(),
            4 => random.below(2000).to_string().into_bytes(),
            _ => random.pick(&NUMBERS)?.as_bytes().to_vec(),
        };
        Some((range, text))
    }

    fn other_string(&self, random: &mut Random) -> Option<(Range<usize>, Vec<u8>)> {
        let range = random.pick(&self.strings)?.clone();
        let other = random.pick(&self.strings)?.clone();
        Some((range, self.json[other].to_vec()))
    }

    /// A piece of text is cut out or put in place of another.
    fn moved_text(&self, random: &mut Random) -> Option<(Range<usize>, Vec<u8>)> {
        let mut piece = || {
            let start = random.below(self.json.len());
            start..(start + random.below(40)).min(self.json.len())
        };
        let (from, to) = (piece(), piece());
        let text = self.json[from].to_vec();
        Some((
            to,
            if random.below(2) == 0 {
                Vec::new()
            } else {
                text
            },
        ))
    }
}

/// Where numbers and short strings are.
fn scan(json: &[u8]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut numbers, mut strings) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < json.len() {
        let rest = &json[at + 1..];
        let length = match json[at] {
            b'"' => rest
                .iter()
                .position(|&b| b == b'"')
                .map_or(rest.len(), |end| end + 1),
            b'-' | b'0'..=b'9' => {
                let part = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
                rest.iter().position(|b| !part(b)).unwrap_or(rest.len())
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let range = at..at + 1 + length;
        at = range.end;
        if range.len() <= LONGEST {
            let list = if json[range.start] == b'"' {
                &mut strings
            } else {
                &mut numbers
            };
            list.push(range);
        }
    }
    (numbers, strings)
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..1 + random.below(16) {
        let at = random.below(bytes.len());
        let value = random.next() as u8;
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
    }
}

/// The file again, with lengths that are right.
fn join(mut json: Vec<u8>, bin: Option<Vec<u8>>) -> Vec<u8> {
    let Some(bin) = bin else {
        return json;
    };
    json.resize(json.len().next_multiple_of(4), b' ');
    let length = (28 + json.len() + bin.len()) as u32;
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend(length.to_le_bytes());
    for (kind, data) in [(b"JSON", &json), (b"BIN\0", &bin)] {
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(data);
    }
    bytes
}
