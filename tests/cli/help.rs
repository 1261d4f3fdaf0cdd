//! `-h`, which fits on a screen, and `--help`, which is complete.

use crate::common::Place;

const COMMANDS: [&str; 14] = [
    "render",
    "view",
    "info",
    "check",
    "trace",
    "bench",
    "diff",
    "denoise",
    "export",
    "new",
    "farm",
    "merge",
    "completions",
    "man",
];
/// Lines and columns of a screen.
const SCREEN: (usize, usize) = (24, 100);

fn assert_fits(help: &str) {
    let widest = help.lines().map(|line| line.chars().count()).max();
    assert!(help.lines().count() <= SCREEN.0 && widest <= Some(SCREEN.1), "{help}");
}

#[test]
fn short_help_fits_a_screen_and_says_where_there_is_more() {
    let place = Place::new(1);
    let help = place.ok(&["-h"]).stdout;
    assert_fits(&help);
    for command in COMMANDS {
        assert!(help.contains(command), "{help}");
        let help = place.ok(&[command, "-h"]).stdout;
        assert_fits(&help);
        assert!(help.contains(&format!("throng {command} --help")), "{help}");
    }
}

#[test]
fn long_help_has_the_flags_that_short_help_leaves_out() {
    let place = Place::new(1);
    let [short, long] = ["-h", "--help"].map(|flag| place.ok(&["render", flag]).stdout);
    let first = "--output --video --frames --size --preset --samples --denoise --environment --transparent --animation --integrator --set";
    for flag in first.split(' ') {
        assert!(short.contains(flag) && long.contains(flag), "{flag}");
    }
    for flag in ["--clamp-indirect", "--focus-on", "--progress"] {
        assert!(!short.contains(flag) && long.contains(flag), "{flag}");
    }
    assert!(long.contains("\nExamples:\n"), "{long}");
}

#[test]
fn help_is_a_command_too() {
    let place = Place::new(1);
    assert_eq!(place.ok(&["help"]).stdout, place.ok(&["--help"]).stdout);
    for command in COMMANDS {
        let help = place.ok(&["help", command]).stdout;
        assert_eq!(help, place.ok(&[command, "--help"]).stdout);
    }
    place.fails(&["help", "nonsense"], 2, "nonsense");
}
