//! Tests of reading stages.
#![cfg(feature = "reader")]

mod big;
mod damaged;
mod expected;
mod inline;
mod meshes;
mod numbers;
mod reading;
mod shading;
mod transforms;
