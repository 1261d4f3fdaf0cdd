//! Small farms, with and without locks.

use std::process::Command;

fn simulate(more: &[&str]) {
    let mut farm = Command::new(env!("CARGO_BIN_EXE_farm_at_scale"));
    let status = farm.args(["--workers", "60", "--hosts", "12", "--frames", "1500"]).args(more).status();
    assert!(status.expect("it runs").success());
}

#[test]
fn no_frame_is_lost_or_torn() {
    simulate(&[]);
}

#[test]
fn no_frame_is_lost_or_torn_without_locks() {
    simulate(&["--no-locks"]);
}
