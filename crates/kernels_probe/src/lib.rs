//! Entry points of the kernels for tests, and the GPU's trees and traversal compiled for the CPU: a library to link with.

#![no_std]
