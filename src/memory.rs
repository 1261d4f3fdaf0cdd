//! How much memory this machine has.

use std::{fs, sync::LazyLock};

/// Bytes that are built in, or what this container may use if that is less; none where the machine does not tell. Memory in use
/// by others counts: whether they give it back in time is not known here.
pub fn total_bytes() -> Option<u64> {
    // Asked for every frame that is written.
    static TOTAL: LazyLock<Option<u64>> = LazyLock::new(read_total_bytes);
    *TOTAL
}

fn read_total_bytes() -> Option<u64> {
    let machine = parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = container.and_then(|text| text.trim().parse().ok());
    Some(limit.map_or(machine, |limit| machine.min(limit)))
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read_in_kibibytes() {
        let text = "MemTotal:       24644156 kB\nMemFree:        123 kB\n";
        assert_eq!(parse_meminfo(text), Some(24_644_156 * 1024));
        assert_eq!(parse_meminfo("MemFree: 1 kB"), None);
        assert_eq!(parse_meminfo("MemTotal: lots"), None);
    }
}
