//! The kernels in `kernels/`, compiled for the CPU: a library to link with, once per instruction set. `throng-device` declares the entry points.
//!
//! A crate of its own has no features. Its compilation, which takes longest of all, is thus one for all builds.

#![no_std]
