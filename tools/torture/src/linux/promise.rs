//! A promise: how often it was tested, and the faults that were found.

use super::process::Ended;
use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Maximum number of stored cases per fault.
const KEPT: u64 = 3;
/// Maximum number of stored characters of a command line and of its messages.
const LONGEST_KEPT: usize = 4000;
/// Maximum number of faults shown per promise.
const SHOWN: usize = 12;
/// Number of characters of a message by which faults are distinguished.
const LONGEST: usize = 160;

pub struct Promise {
    says: &'static str,
    /// Name of the attempts, in the plural.
    tries_are: &'static str,
    tries: AtomicU64,
    /// Counts of faults, by message without the details of a case.
    faults: Mutex<BTreeMap<String, u64>>,
    folder: PathBuf,
}

impl Promise {
    /// Creates a promise. Cases that break it are stored in a folder below `keep`.
    pub fn new(keep: &Path, says: &'static str, tries_are: &'static str) -> Self {
        Self {
            says,
            tries_are,
            tries: AtomicU64::new(0),
            faults: Mutex::default(),
            folder: keep.join(says.replace(' ', "_")),
        }
    }

    /// Counts an attempt. If there is a fault, stores its case: the command line, the messages and the files.
    pub fn tried(&self, fault: Option<String>, ended: &Ended, files: Option<&Path>) -> anyhow::Result<()> {
        self.tries.fetch_add(1, Ordering::Relaxed);
        let Some(fault) = fault else { return Ok(()) };
        let folded = fold(&fault);
        let kind = crc32fast::hash(folded.as_bytes());
        let times = {
            let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            let times = faults.entry(folded).or_default();
            *times += 1;
            *times
        };
        if times > KEPT {
            return Ok(());
        }
        let folder = self.folder.join(format!("{kind:08x}_{times}"));
        fs::create_dir_all(&folder)?;
        let start = |text: &str| text.chars().take(LONGEST_KEPT).collect::<String>();
        let text = format!("{fault}\n\n{}\n\n{}\n", start(&ended.line), start(&ended.stderr));
        fs::write(folder.join("case.txt"), text)?;
        match files {
            Some(files) if files.is_dir() => copy_files(files, &folder.join("files"))?,
            Some(file) => drop(fs::copy(file, folder.join(file.file_name().unwrap_or_default()))?),
            None => {}
        }
        Ok(())
    }

    pub fn is_broken(&self) -> bool {
        self.broken() > 0
    }

    fn broken(&self) -> u64 {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.values().sum()
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (tries, broken) = (self.tries.load(Ordering::Relaxed), self.broken());
        write!(f, "{}: {tries} {}, {broken} broken", self.says, self.tries_are)?;
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        for (fault, times) in faults.iter().take(SHOWN) {
            write!(f, "\n  {times} x {fault}")?;
        }
        if faults.len() > SHOWN {
            write!(f, "\n  and {} faults more", faults.len() - SHOWN)?;
        }
        match broken {
            0 => Ok(()),
            _ => write!(f, "\n  see {}", self.folder.display()),
        }
    }
}

/// The message without numbers and quoted texts.
fn fold(message: &str) -> String {
    let mut folded = String::new();
    let mut quote = None;
    for c in message.chars().take(4 * LONGEST) {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None if "`\"".contains(c) => {
                quote = Some(c);
                folded.push('…');
            }
            None if c.is_ascii_digit() => {
                if !folded.ends_with('#') {
                    folded.push('#');
                }
            }
            None => folded.push(if c.is_control() { ' ' } else { c }),
        }
    }
    folded.chars().take(LONGEST).collect()
}

/// Copies regular files and folders. Other entries are skipped.
pub fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        if kind.is_dir() {
            copy_files(&entry.path(), &to.join(name))?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}
