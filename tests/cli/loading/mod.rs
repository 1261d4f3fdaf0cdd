//! Scenes and models as input: new, damaged, hostile, and with warnings.

mod bare_models;
mod damaged;
mod export;
mod hostile;
mod inputs;
mod mast;
mod models;
mod new;
mod pbrt;
mod strict;
mod usd;
mod warnings;
