//! The name of this machine's processor, for reports.

use std::{env::consts::ARCH, fs};

/// The processor's model name from `/proc/cpuinfo`, or the architecture if there is none.
pub fn processor() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_name(&cpuinfo).unwrap_or(ARCH).to_owned()
}

fn model_name(cpuinfo: &str) -> Option<&str> {
    let mut lines = cpuinfo.lines();
    let (_, name) = lines.find(|line| line.starts_with("model name"))?.split_once(':')?;
    Some(name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_processor_is_named() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n\nprocessor\t: 1\n";
        assert_eq!(model_name(text), Some("Some CPU @ 2 GHz"));
        assert_eq!(model_name("CPU part\t: 0xd40\n"), None);
        assert!(!processor().is_empty());
    }
}
