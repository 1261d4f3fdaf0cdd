//! The attacks, one module each.

mod crowd;
mod disks;
mod farms;
mod films;
mod flags;
mod foreign;
mod kills;
mod limits;
mod mutations;
mod names;
mod pages;
mod pieces;
mod refused;
mod special;
mod stubborn;

use super::{campaign::Campaign, promise::Promise};

/// Name, share of the time in percent, and function of an attack.
pub type Attack = (&'static str, u32, fn(&Campaign) -> anyhow::Result<Vec<Promise>>);

/// All attacks, in the order in which they run.
pub const ATTACKS: [Attack; 15] = [
    ("refused", 3, refused::attack),
    ("names", 2, names::attack),
    ("special", 10, special::attack),
    ("stubborn", 6, stubborn::attack),
    ("pieces", 4, pieces::attack),
    ("films", 2, films::attack),
    ("farms", 3, farms::attack),
    ("foreign", 4, foreign::attack),
    ("pages", 4, pages::attack),
    ("crowd", 6, crowd::attack),
    ("limits", 7, limits::attack),
    ("disks", 8, disks::attack),
    ("flags", 8, flags::attack),
    ("kills", 22, kills::attack),
    ("mutations", 25, mutations::attack),
];
