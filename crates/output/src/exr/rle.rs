//! OpenEXR's run-length encoding.

/// Maximum length of a run, in bytes. The minimum is three equal bytes.
const LONGEST: usize = 128;

/// Appends compressed data. A run is stored as its length minus one, then the byte. Other bytes are stored as their negated count, then the
/// bytes.
pub fn compress(data: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    let mut literals = 0;
    while at < data.len() {
        // Most bytes start no run, which two comparisons detect.
        if !matches!(data[at..], [a, b, c, ..] if a == b && b == c) {
            at += 1;
            continue;
        }
        let run = run_length(&data[at..]);
        write_literals(&data[literals..at], out);
        out.extend([(run - 1) as u8, data[at]]);
        at += run;
        literals = at;
    }
    write_literals(&data[literals..], out);
}

fn run_length(data: &[u8]) -> usize {
    let equal = |&&byte: &&u8| byte == data[0];
    data.iter().take(LONGEST).take_while(equal).count()
}

fn write_literals(literals: &[u8], out: &mut Vec<u8>) {
    for piece in literals.chunks(LONGEST - 1) {
        out.push((piece.len() as u8).wrapping_neg());
        out.extend_from_slice(piece);
    }
}
