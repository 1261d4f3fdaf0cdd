//! Arguments that several subcommands share.

use crate::{
    device::{self, Device, DeviceChoice, Gang},
    loader::{self, LoadOptions},
    scene::Scene,
};
use anyhow::Context;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct SceneArgs {
    /// Scene file (.ron), model (.obj) or raw scene (.scn)
    #[arg(value_name = "SCENE")]
    pub path: PathBuf,
    /// Replace a value of the scene file, for example render.frames=12 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub overrides: Vec<(String, String)>,
}

impl SceneArgs {
    pub fn load(&self) -> anyhow::Result<Scene> {
        let options = LoadOptions {
            overrides: self.overrides.clone(),
        };
        Ok(loader::load_with(&self.path, &options)?)
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().into(), value.trim().into()))
        }
        _ => Err("write a key and a value like render.samples=4".into()),
    }
}

#[derive(clap::Args)]
#[command(next_help_heading = "Device")]
pub struct DeviceArgs {
    /// What renders; frames are shared among several, like cpu,cpu
    #[arg(long, value_enum, value_delimiter = ',', default_value = "auto")]
    device: Vec<DeviceName>,
    /// CPU threads, 0 for one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
}

/// What this build can run on.
#[derive(Clone, Copy, clap::ValueEnum)]
enum DeviceName {
    /// The fastest there is
    Auto,
    /// The processor
    Cpu,
}

impl DeviceArgs {
    /// Comes before loading, which already uses the threads that are started here.
    pub fn open(&self) -> anyhow::Result<Box<dyn Device>> {
        let mut devices = self.open_all()?;
        match devices.pop() {
            Some(only) if devices.is_empty() => Ok(only),
            last => {
                devices.extend(last);
                let gang = Gang::new(devices).context("cannot share frames among the devices")?;
                Ok(Box::new(gang))
            }
        }
    }

    /// Each device by itself.
    pub fn open_all(&self) -> anyhow::Result<Vec<Box<dyn Device>>> {
        let open = |name: &DeviceName| {
            let choice = match name {
                DeviceName::Auto => DeviceChoice::Auto,
                DeviceName::Cpu => DeviceChoice::Cpu,
            };
            device::open(choice, self.threads.into()).context("cannot open the device")
        };
        self.device.iter().map(open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_split_at_the_first_equals_sign() {
        let pair = |k: &str, v: &str| Ok((k.to_owned(), v.to_owned()));
        assert_eq!(parse_pair("a.b=1"), pair("a.b", "1"));
        assert_eq!(parse_pair("a = (b=1)"), pair("a", "(b=1)"));
        assert_eq!(parse_pair("a="), pair("a", ""));
        assert!(parse_pair("a").is_err());
        assert!(parse_pair("=1").is_err());
    }
}
