//! Names of devices on the command line, and opening the devices.

use super::{CpuDevice, Device, DeviceError, MultiDevice, cuda};
use std::{env, error::Error, ffi::OsStr, fmt, num::NonZero, str::FromStr, thread};
use throng_base::memory;

/// A device that the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// All GPUs, or the CPU if there is none.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPUs with these ordinals, without duplicates; all GPUs if the list is empty.
    Cuda(Vec<u32>),
}

/// A non-empty list of devices (`--device`), like `cpu,cuda:0,1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceList(Vec<DeviceChoice>);

/// Errors in the name of a device.
#[allow(missing_docs, reason = "their texts say what is wrong")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceNameError {
    #[error("`{0}` is not a device; write auto, cpu, cuda or cuda:0,1")]
    Unknown(String),
    #[error("`{0}` is not the number of a GPU; write GPUs like cuda:0 or cuda:0,1")]
    Ordinal(String),
    #[error("GPU {0} is there twice")]
    Twice(u32),
}

/// A device that is ready for use.
pub struct Opened {
    pub device: Box<dyn Device>,
    pub note: Option<Note>,
}

/// Explains to the user why the device is not a faster one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    /// Whether the machine has a GPU nevertheless, so that the user may expect it to work.
    pub is_surprising: bool,
}

impl DeviceList {
    pub fn choices(&self) -> &[DeviceChoice] {
        &self.0
    }
}

impl Default for DeviceList {
    fn default() -> Self {
        Self(vec![DeviceChoice::Auto])
    }
}

impl FromStr for DeviceList {
    type Err = DeviceNameError;

    /// A bare number adds to the GPUs before it: `cuda:0,1,cpu` is two entries.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut choices = Vec::new();
        for word in text.split(',').map(str::trim) {
            match choices.last_mut() {
                Some(DeviceChoice::Cuda(ordinals)) if !ordinals.is_empty() && is_number(word) => {
                    let ordinal = ordinal(word)?;
                    if ordinals.contains(&ordinal) {
                        return Err(DeviceNameError::Twice(ordinal));
                    }
                    ordinals.push(ordinal);
                }
                _ => choices.push(one(word)?),
            }
        }
        Ok(Self(choices))
    }
}

impl FromStr for DeviceChoice {
    type Err = DeviceNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let DeviceList(mut choices) = text.parse()?;
        match (choices.pop(), choices.is_empty()) {
            (Some(choice), true) => Ok(choice),
            _ => Err(DeviceNameError::Unknown(text.into())),
        }
    }
}

/// Parses one device, without the ordinals that may follow.
fn one(word: &str) -> Result<DeviceChoice, DeviceNameError> {
    match (word, word.split_once(':')) {
        ("auto", _) => Ok(DeviceChoice::Auto),
        ("cpu", _) => Ok(DeviceChoice::Cpu),
        ("cuda", _) => Ok(DeviceChoice::Cuda(Vec::new())),
        (_, Some(("cuda", number))) => Ok(DeviceChoice::Cuda(vec![ordinal(number)?])),
        _ => Err(DeviceNameError::Unknown(word.into())),
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn ordinal(word: &str) -> Result<u32, DeviceNameError> {
    let number = Some(word).filter(|word| is_number(word));
    let ordinal = number.and_then(|word| word.parse().ok());
    ordinal.ok_or_else(|| DeviceNameError::Ordinal(word.into()))
}

/// Writes the choice in the syntax of the command line.
impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinals) => {
                f.write_str("cuda")?;
                for (i, ordinal) in ordinals.iter().enumerate() {
                    write!(f, "{}{ordinal}", if i == 0 { ':' } else { ',' })?;
                }
                Ok(())
            }
        }
    }
}

/// Opens a device. `threads` is the number of CPU threads; 0 uses `RAYON_NUM_THREADS`, or one thread per core. The thread pool belongs to the
/// process, so the first call decides.
///
/// # Errors
/// If threads cannot be started ([`start_threads`]), or the device is unavailable. `Auto` falls back to the CPU and explains this in
/// [`Opened::note`].
pub fn open(choice: &DeviceChoice, threads: usize) -> Result<Opened, DeviceError> {
    start_threads(threads)?;
    let (device, note) = match choice {
        DeviceChoice::Cpu => (cpu()?, None),
        DeviceChoice::Cuda(ordinals) => (open_gpus(ordinals)?, None),
        // A build without CUDA has only the CPU, which needs no note.
        DeviceChoice::Auto if cuda::gpus() == Err(cuda::Unavailable::NotBuilt) => (cpu()?, None),
        DeviceChoice::Auto => match open_gpus(&[]) {
            Ok(device) => (device, None),
            Err(error) => (cpu()?, Some(fallback(&error))),
        },
    };
    Ok(Opened { device, note })
}

fn fallback(error: &DeviceError) -> Note {
    let (reason, is_surprising) = match error {
        DeviceError::NoGpu { reason } => (reason.to_string(), reason.has_gpu()),
        other => (other.to_string(), true),
    };
    Note { text: format!("{reason}: running on the CPU"), is_surprising }
}

/// Environment variable of rayon with the default number of threads.
const THREADS_VARIABLE: &str = "RAYON_NUM_THREADS";
/// Greatest number of threads, as for `--threads`.
const MOST_THREADS: usize = 1024;

/// The number of threads in the environment variable; 0 (one per core) if it is unset or empty.
fn threads_of(value: Option<&OsStr>) -> Result<usize, DeviceError> {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return Ok(0);
    };
    let number = value.to_str().and_then(|text| text.trim().parse().ok());
    number.filter(|&number| number <= MOST_THREADS).ok_or_else(|| {
        DeviceError::Failed(format!(
            "the environment variable {THREADS_VARIABLE} is `{}`: give it a number of threads up to {MOST_THREADS}, or unset it",
            value.display()
        ))
    })
}

/// Starts the process's thread pool. `threads` = 0 uses `RAYON_NUM_THREADS`, or one thread per core. Code that needs no device must call this before
/// its first parallel work, which would panic if threads could not be started.
///
/// # Errors
/// `Failed` if `RAYON_NUM_THREADS` is invalid, if memory for the threads is short, if the system refuses, or if a different number of threads is
/// already running.
pub fn start_threads(threads: usize) -> Result<(), DeviceError> {
    let failed = |error: &dyn Error| DeviceError::Failed(format!("cannot start threads: {error}"));
    let wanted = match threads {
        0 => threads_of(env::var_os(THREADS_VARIABLE).as_deref())?,
        count => count,
    };
    let count = match wanted {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        count => count,
    };
    memory::check_room_for_threads(count, memory::THREAD_STACK).map_err(|error| failed(&error))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build_global();
    match pool {
        // An error with a source is the system's. Without one, an earlier call started the pool already.
        Err(error) if error.source().is_some() => Err(failed(&error)),
        Err(error) if threads > 0 && rayon::current_num_threads() != threads => Err(failed(&error)),
        _ => Ok(()),
    }
}

fn cpu() -> Result<Box<dyn Device>, DeviceError> {
    Ok(Box::new(CpuDevice::new()?))
}

/// Opens the GPUs with these ordinals as one device, or all GPUs if the list is empty.
fn open_gpus(ordinals: &[u32]) -> Result<Box<dyn Device>, DeviceError> {
    let gpus = cuda::gpus()?;
    let usable: Vec<u32> = gpus.iter().map(|gpu| gpu.ordinal).collect();
    if let Some(missing) = ordinals.iter().find(|o| !usable.contains(o)) {
        let names: Vec<String> = gpus.iter().map(|gpu| format!("cuda:{} ({})", gpu.ordinal, gpu.name)).collect();
        return Err(DeviceError::Failed(format!(
            "there is no usable GPU cuda:{missing}; there is {}",
            names.join(", ")
        )));
    }
    let chosen = if ordinals.is_empty() { &usable } else { ordinals };
    let devices: Result<Vec<Box<dyn Device>>, DeviceError> =
        chosen.iter().map(|&ordinal| cuda::open(ordinal)).collect();
    together(devices?)
}

/// Combines several devices into one that shares work among them. A single device is returned unchanged.
///
/// # Errors
/// If the list is empty, or if the devices use different node layouts.
pub fn together(mut devices: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, DeviceError> {
    match (devices.pop(), devices.is_empty()) {
        (Some(device), true) => Ok(device),
        (last, _) => {
            devices.extend(last);
            Ok(Box::new(MultiDevice::new(devices)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DeviceChoice::{Auto, Cpu, Cuda};

    fn list(text: &str) -> Result<Vec<DeviceChoice>, DeviceNameError> {
        text.parse().map(|DeviceList(choices)| choices)
    }

    #[test]
    fn numbers_belong_to_the_gpus_before_them() {
        for (text, choices) in [
            ("auto", vec![Auto]),
            ("cuda", vec![Cuda(vec![])]),
            ("cuda:0,1", vec![Cuda(vec![0, 1])]),
            ("cpu,cuda", vec![Cpu, Cuda(vec![])]),
            ("cuda:0,cuda:1", vec![Cuda(vec![0]), Cuda(vec![1])]),
            ("cuda:2,10, cpu", vec![Cuda(vec![2, 10]), Cpu]),
            ("cpu,cuda:0,1", vec![Cpu, Cuda(vec![0, 1])]),
            ("cuda:0,cuda:0,1", vec![Cuda(vec![0]), Cuda(vec![0, 1])]),
        ] {
            assert_eq!(list(text), Ok(choices.clone()), "{text}");
            let typed: Vec<String> = choices.iter().map(ToString::to_string).collect();
            assert_eq!(list(&typed.join(",")), Ok(choices), "{text}");
        }
    }

    #[test]
    fn what_is_no_device_is_named() {
        use DeviceNameError::{Ordinal, Twice, Unknown};
        for (text, error) in [
            ("", Unknown("".into())),
            ("gpu", Unknown("gpu".into())),
            ("cpu:0", Unknown("cpu:0".into())),
            ("cpu,,cuda", Unknown("".into())),
            ("0", Unknown("0".into())),
            ("cuda,1", Unknown("1".into())),
            ("CUDA", Unknown("CUDA".into())),
            ("cuda:", Ordinal("".into())),
            ("cuda:x", Ordinal("x".into())),
            ("cuda:-1", Ordinal("-1".into())),
            ("cuda:+1", Ordinal("+1".into())),
            ("cuda:0,1x", Ordinal("1x".into())),
            ("cuda:4294967296", Ordinal("4294967296".into())),
            ("cuda:0,0", Twice(0)),
        ] {
            assert_eq!(list(text), Err(error), "{text}");
        }
    }

    #[test]
    fn the_environment_asks_for_a_sensible_number_of_threads() {
        let threads = |text: &str| threads_of(Some(OsStr::new(text)));
        assert_eq!(threads_of(None).ok(), Some(0));
        for (text, number) in [("", 0), ("0", 0), ("2", 2), (" 8 ", 8), ("1024", 1024)] {
            assert_eq!(threads(text).ok(), Some(number), "{text}");
        }
        for text in ["1025", "999999", "-1", "many", "2.5", "99999999999999999999"] {
            let error = threads(text).unwrap_err().to_string();
            assert!(error.contains("RAYON_NUM_THREADS") && error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_single_choice_is_not_a_list() {
        assert_eq!("cuda:0,1".parse(), Ok(Cuda(vec![0, 1])));
        assert!("cpu,cuda".parse::<DeviceChoice>().is_err());
    }

    #[test]
    fn the_cpu_opens_without_a_remark() {
        let opened = open(&Cpu, 0).unwrap();
        assert!(opened.device.describe().starts_with("cpu"));
        assert_eq!(opened.note, None);
    }
}
