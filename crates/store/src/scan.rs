//! Reads a store and says what is there: the head first, then every segment, verified by all cores. Writes nothing.

use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use actum_core::{
    Check, Flaw, Found, Head, KeyFile, Keyring, Layout, LedgerId, Position, RECORD_MAX, Refusal,
    SEGMENT_HEADER_LEN, SEGMENT_MAX, SLOT_LEN, SegmentFlaw, Verified, Views, claimed_ledger,
    judge_store,
};

use crate::disk::Disk;
use crate::error::StoreError;
use crate::journal::path_bytes;
use crate::keep::read_key;
use crate::places::Places;

/// Everything that was found of a ledger, believed or not.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) head: Option<Head>,
    /// The valid prefix of the store, folded.
    pub(crate) views: Views,
    pub(crate) found: Found,
    pub(crate) tail: Tail,
    /// Why nothing of it may be believed, or how many genuine events lie beyond the head.
    pub(crate) judged: Result<u64, Refusal>,
    /// Bytes of all segments.
    pub(crate) bytes: u64,
}

/// Where the valid prefix ends on disk, and what lies behind it.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The segment that holds the newest good event.
    pub(crate) segment: Option<PathBuf>,
    /// Where that event ends in it.
    pub(crate) good_end: usize,
    /// Bytes behind it in the same segment.
    pub(crate) rest: Vec<u8>,
    /// Segments behind it.
    pub(crate) extra: Vec<PathBuf>,
    /// Genuine bytes beyond the head: segment, offset, bytes.
    pub(crate) beyond: Vec<(PathBuf, usize, Vec<u8>)>,
}

/// Which ledger the segments name, by their own word; nothing if there is none that names one.
pub(crate) fn claimed_id<D: Disk>(
    disk: &D,
    places: &Places,
) -> Result<Option<LedgerId>, StoreError> {
    let first = segment_paths(disk, places)?.into_iter().next();
    let bytes = first.and_then(|path| disk.read(&path, SEGMENT_LIMIT).ok());
    Ok(bytes.and_then(|bytes| claimed_ledger(&bytes)))
}

/// Reads and verifies the ledger `ledger` at `places`. The head is read before the store, so that a writer at work never
/// looks like a loss.
///
/// # Errors
/// [`Refusal::Key`], or what the disk said. A store that does not verify is no error here: see [`Scan::judged`].
pub(crate) fn scan<D: Disk>(
    disk: &D,
    places: &Places,
    ledger: LedgerId,
) -> Result<Scan, StoreError> {
    let key = read_key(disk, places, ledger)?;
    scan_with(disk, places, &key, 0)
}

/// As [`scan`], with the key at hand; also remembers the MAC of the newest of the first `seen` events.
pub(crate) fn scan_with<D: Disk>(
    disk: &D,
    places: &Places,
    key: &KeyFile,
    seen: u64,
) -> Result<Scan, StoreError> {
    let keys = Keyring::new(key);
    let head = read_head(disk, places, &keys)?;
    let count = head.as_ref().map(|head| head.count);
    let mut views = Views::new(keys, &[count.unwrap_or_default(), seen]);
    let mut tail = Tail::default();
    let (flaw, bytes) = read_segments(disk, places, &mut views, count, &mut tail)?;
    let position = *views.position();
    let found = Found { position, mac_at_head: count.and_then(|count| views.mac_of(count)), flaw };
    // A cut stays a cut, wherever the store was moved to.
    let judged = judge_store(head.as_ref(), &found)
        .and_then(|beyond| judge_place(places, head.as_ref()).map(|()| beyond));
    Ok(Scan { head, views, found, tail, judged, bytes })
}

/// The newest head of the ledger's anchor, if any verifies.
pub(crate) fn read_head<D: Disk>(
    disk: &D,
    places: &Places,
    keys: &Keyring,
) -> Result<Option<Head>, StoreError> {
    let path = places.anchor(keys.ledger());
    match disk.read(&path, 2 * SLOT_LEN as u64) {
        Ok(bytes) => Ok(Head::newest(&bytes, keys)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::disk("read", &path)(error)),
    }
}

fn judge_place(places: &Places, head: Option<&Head>) -> Result<(), Refusal> {
    let moved = head.filter(|head| head.path != path_bytes(&places.store));
    match moved {
        None => Ok(()),
        Some(head) => Err(Refusal::Moved {
            expected: String::from_utf8_lossy(&head.path).into_owned(),
            found: places.store.display().to_string(),
        }),
    }
}

/// A segment may be longer than its limit by one batch's last record at most; more is not ours.
const SEGMENT_LIMIT: u64 = (SEGMENT_MAX + RECORD_MAX) as u64;

/// The bytes of a segment; nothing if what has its name cannot be one.
pub(crate) fn read_segment<D: Disk>(disk: &D, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match disk.read(path, SEGMENT_LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(StoreError::disk("read", path)(error)),
    }
}

pub(crate) fn segment_paths<D: Disk>(
    disk: &D,
    places: &Places,
) -> Result<Vec<PathBuf>, StoreError> {
    let folder = places.segments();
    match disk.list(&folder) {
        // Sixteen hexadecimal digits: the order of names is the order of events.
        Ok(names) => {
            let segments = names.iter().filter(|name| {
                let digits = name.strip_suffix(".seg");
                digits.is_some_and(|digits| actum_core::unhex::<8>(digits).is_some())
            });
            Ok(segments.map(|name| folder.join(name)).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(StoreError::disk("list", &folder)(error)),
    }
}

fn read_segments<D: Disk>(
    disk: &D,
    places: &Places,
    views: &mut Views,
    head: Option<u64>,
    tail: &mut Tail,
) -> Result<(Option<Flaw>, u64), StoreError> {
    let paths = segment_paths(disk, places)?;
    let mut total = 0;
    for (at, path) in paths.iter().enumerate() {
        let (from, keys) = (*views.position(), views.keys().clone());
        let Some(bytes) = read_segment(disk, path)? else {
            let what = SegmentFlaw::Unfit;
            tail.extra = paths.get(at..).unwrap_or_default().to_vec();
            return Ok((Some(Flaw::Segment { event: from.count, what }), total));
        };
        total += bytes.len() as u64;
        let verified = verify(&bytes, &keys, &from);
        note_beyond(&verified, &bytes, path, head, tail);
        let admitted = views.admit(&verified);
        let empty = views.position().count == from.count;
        let barren = admitted.flaw.is_some() && empty;
        if barren && at > 0 {
            // Nothing of this segment is good: the one before it holds the end.
            tail.extra = paths.get(at..).unwrap_or_default().to_vec();
            return Ok((admitted.flaw, total));
        }
        if barren {
            // Not even a header to go on from.
            tail.extra.clone_from(&paths);
            return Ok((admitted.flaw, total));
        }
        tail.segment = Some(path.clone());
        tail.good_end = admitted.end;
        tail.rest = bytes.get(tail.good_end..).unwrap_or_default().to_vec();
        if admitted.flaw.is_some() {
            tail.extra = paths.get(at + 1..).unwrap_or_default().to_vec();
            return Ok((admitted.flaw, total));
        }
    }
    Ok((None, total))
}

/// Remembers genuine records beyond the head: what a failed sync left must be written again, for the page may be clean in
/// memory and absent on the disk.
fn note_beyond(
    verified: &Verified<'_>,
    bytes: &[u8],
    path: &Path,
    head: Option<u64>,
    tail: &mut Tail,
) {
    let Some(head) = head else { return };
    let mut start = SEGMENT_HEADER_LEN;
    let (mut from, mut end) = (None, 0);
    for record in verified.records() {
        if record.header.index >= head && from.is_none() {
            from = Some(if record.header.index == head { start } else { SEGMENT_HEADER_LEN });
        }
        start = record.end;
        end = record.end;
    }
    if let Some(part) = from.and_then(|from| bytes.get(from..end).map(|part| (from, part))) {
        tail.beyond.push((path.to_owned(), part.0, part.1.to_vec()));
    }
}

/// Checks every record of a segment, on all cores when there are enough of them to be worth it.
pub fn verify<'a>(bytes: &'a [u8], keys: &'a Keyring, at: &Position) -> Verified<'a> {
    let layout = Layout::read(bytes, keys, at);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let share = layout.len().div_ceil(threads).max(RECORDS_WORTH_A_THREAD);
    let ranges: Vec<_> = (0..layout.len())
        .step_by(share)
        .map(|start| start..layout.len().min(start + share))
        .collect();
    let checks = match ranges.as_slice() {
        [] => Vec::new(),
        [one] => vec![layout.check(one.clone())],
        [_, ..] => thread::scope(|scope| {
            let workers: Vec<_> = ranges
                .iter()
                .map(|range| {
                    let (layout, range) = (&layout, range.clone());
                    scope.spawn(move || layout.check(range))
                })
                .collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect::<Vec<Check>>()
        }),
    };
    // A worker that did not come back leaves a gap, and a gap is a panic here, never a belief.
    layout.conclude(checks)
}

const THREADS_MAX: usize = 16;
/// Below this a thread costs more than it saves.
const RECORDS_WORTH_A_THREAD: usize = 4096;
