//! The MAC chain of events: seals one, and checks the bytes of a segment. Knows no files, no clocks and no meaning.
//!
//! Checking has three passes, so that all cores can help: [`Layout::read`] finds the records, [`Layout::check`] checks any
//! range of them (each MAC covers the stored MAC before it, so ranges are independent), and [`Layout::conclude`] turns
//! checks that cover everything into [`Verified`] records. There is no other way to those.

use core::ops::Range;

use crate::authority::Authority;
use crate::canon::{Mac, Reader, Writer};
use crate::event::{Event, FIELDS_MAX, HEADER_LEN, Header, Kind, LedgerId, Space, VERSION};
use crate::keys::Keyring;

/// Bytes before the first record of a segment.
pub const SEGMENT_HEADER_LEN: usize = 64;
/// Bytes in a segment.
pub const SEGMENT_MAX: usize = 64 << 20;
/// Bytes in the longest record.
pub const RECORD_MAX: usize = HEADER_LEN + FIELDS_MAX + MAC_LEN;

const MAC_LEN: usize = 32;
const MAGIC: &[u8; 8] = b"ACTUMLG1";

/// Where a chain stands: what the next event is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// How many events there are; the index of the next.
    pub count: u64,
    /// The MAC of the newest.
    pub mac: Mac,
    /// The generation of the key that seals the next.
    pub generation: u32,
    /// The incarnation of the newest.
    pub incarnation: u32,
}

impl Position {
    /// Before the first event.
    pub const START: Self = Self { count: 0, mac: Mac::ZERO, generation: 0, incarnation: 0 };
}

/// The header of a segment that goes on from `at`.
pub fn segment_header(ledger: LedgerId, at: &Position) -> [u8; SEGMENT_HEADER_LEN] {
    let mut w = Writer::default();
    w.fixed(MAGIC);
    w.fixed(ledger.as_bytes());
    w.u64(at.count);
    w.fixed(at.mac.as_bytes());
    let mut header = [0; SEGMENT_HEADER_LEN];
    header.copy_from_slice(&w.0);
    header
}

/// The ledger id in a segment's header, not yet verified by anything. `None` if it is not a segment.
pub fn claimed_ledger(segment: &[u8]) -> Option<LedgerId> {
    let mut r = Reader(segment);
    (r.array::<8>()? == *MAGIC).then_some(())?;
    r.array().map(LedgerId::from_bytes)
}

/// Seals `event` behind `at`, adds its record to `out` and moves `at` on. `None` if there is no key of that generation.
pub fn seal(
    keys: &Keyring,
    at: &mut Position,
    time_ms: u64,
    event: &Event<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let key = keys.event(at.generation)?;
    let fields = event.encode();
    let header =
        Header { kind: event.kind().code(), index: at.count, incarnation: at.incarnation, time_ms };
    let mut w = Writer(Vec::with_capacity(MAC_LEN + HEADER_LEN + fields.len() + MAC_LEN));
    w.fixed(at.mac.as_bytes());
    header.write(&mut w, fields.len());
    w.fixed(&fields);
    let mac = key.mac(&w.0);
    w.fixed(mac.as_bytes());
    out.extend_from_slice(w.0.get(MAC_LEN..).unwrap_or_default());
    at.count += 1;
    at.mac = mac;
    if let Event::Rotated { generation, .. } = event {
        at.generation = *generation;
    }
    Some(())
}

/// The first bad place in a segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The segment does not belong here.
    #[error("segment header: {what}")]
    Segment {
        /// The index of the first event that was expected in it.
        event: u64,
        /// Why not.
        what: SegmentFlaw,
    },
    /// A record is not what a sound writer with the key wrote.
    #[error("event {event}: {what}")]
    Event {
        /// Its index.
        event: u64,
        /// Why not.
        what: EventFlaw,
    },
}

impl Flaw {
    /// The index of the event at the bad place.
    pub const fn event(&self) -> u64 {
        match self {
            Self::Segment { event, .. } | Self::Event { event, .. } => *event,
        }
    }

    /// The bytes simply end here: nothing that was changed, something that is missing.
    pub const fn is_an_end(&self) -> bool {
        matches!(
            self,
            Self::Event { what: EventFlaw::Ends, .. }
                | Self::Segment { what: SegmentFlaw::Ends, .. }
        )
    }
}

/// What is wrong with the header of a segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SegmentFlaw {
    /// Fewer bytes than a header has.
    #[error("the bytes end inside it")]
    Ends,
    /// Not a segment of this version.
    #[error("wrong magic")]
    Magic,
    /// A segment of another ledger.
    #[error("another ledger")]
    Ledger,
    /// A segment from another place of the ledger.
    #[error("first index is {found}, expected {expected}")]
    First {
        /// The index it names.
        found: u64,
        /// The index that follows.
        expected: u64,
    },
    /// What has a segment's name is no file that could be one.
    #[error("not a plain file of at most {SEGMENT_MAX} bytes")]
    Unfit,
    /// The first segment names a MAC before the first event.
    #[error("names a predecessor of event 0")]
    Predecessor,
    /// The MAC it names is not that of the event before it.
    #[error("does not follow event {before}")]
    Follows {
        /// The event before it.
        before: u64,
    },
}

/// What is wrong with a record. In the order in which it is checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventFlaw {
    /// Fewer bytes than the record says.
    #[error("the bytes end inside it")]
    Ends,
    /// More fields than an event can have.
    #[error("fields of {found} bytes, at most {FIELDS_MAX}")]
    Fields {
        /// As it says.
        found: usize,
    },
    /// Written by a version to come.
    #[error("version {found} is not known")]
    Version {
        /// As it says.
        found: u8,
    },
    /// Not written by a holder of the key, or not in this place.
    #[error("the MAC does not match")]
    Mac,
    /// In the wrong place.
    #[error("carries index {found}")]
    Index {
        /// As it says.
        found: u64,
    },
    /// A writer that started earlier than the one before it.
    #[error("incarnation {found} after {before}")]
    Incarnation {
        /// As it says.
        found: u32,
        /// The one before it.
        before: u32,
    },
    /// A kind this version does not know.
    #[error("kind {found} is not known")]
    Kind {
        /// As it says.
        found: u8,
    },
    /// Not what the encoding of its kind allows.
    #[error("fields do not decode")]
    Decode,
    /// A name out of order.
    #[error("names number {found}, expected {expected}")]
    Names {
        /// As it says.
        found: u32,
        /// The next number.
        expected: u32,
    },
    /// A second number for a name.
    #[error("number {number} of {space} has the name of number {first}")]
    NamedTwice {
        /// Of which kind.
        space: Space,
        /// As it says.
        number: u32,
        /// The number that the name has already.
        first: u32,
    },
    /// A number without a name.
    #[error("number {number} of {space} is not named")]
    Unnamed {
        /// Of which kind.
        space: Space,
        /// The number.
        number: u32,
    },
    /// The end of nothing.
    #[error("ends run {run}, which is not open")]
    NotOpen {
        /// The run it names.
        run: u64,
    },
    /// A revocation of nothing.
    #[error("revokes run {run}, which is not there")]
    NoRun {
        /// The run it names.
        run: u64,
    },
    /// A second beginning.
    #[error("a second genesis")]
    SecondGenesis,
    /// The ledger does not begin with its beginning.
    #[error("not a genesis")]
    NotGenesis,
    /// The beginning of another ledger.
    #[error("genesis of another ledger")]
    OtherGenesis,
    /// It names an event that is not there, or is not what it should be.
    #[error("refers to event {event}, which is not there")]
    NoEvent {
        /// The event it names.
        event: u64,
    },
    /// It happened in a session that nobody opened.
    #[error("session {session} was not opened")]
    NoSession {
        /// Its number.
        session: u32,
    },
    /// A session began twice.
    #[error("session {session} was opened before")]
    OpenedTwice {
        /// Its number.
        session: u32,
    },
    /// An adapter that the owner did not let observe, or whose enrolment is void.
    #[error("adapter {adapter} is not enrolled")]
    NotEnrolled {
        /// Its number.
        adapter: u32,
    },
    /// A mandate that allows more than the one it draws on.
    #[error("allows more than event {of}, which it draws on")]
    Widens {
        /// The mandate it draws on.
        of: u64,
    },
    /// A record claims more than the least it was derived from.
    #[error("claims {claimed} of what is {least}")]
    Raised {
        /// As it says.
        claimed: Authority,
        /// What its parents allow.
        least: Authority,
    },
    /// More was spent than there was.
    #[error("spends more than event {of} allows")]
    Overspent {
        /// The event that allowed it.
        of: u64,
    },
    /// A rotation that skips a generation.
    #[error("rotates to generation {found}, expected {expected}")]
    Rotates {
        /// As it says.
        found: u32,
        /// The next generation.
        expected: u32,
    },
    /// The key file does not hold the key.
    #[error("no root for generation {generation}")]
    NoRoot {
        /// Of this generation.
        generation: u32,
    },
    /// The key file holds another key.
    #[error("key id of generation {generation} does not match")]
    KeyId {
        /// Of this generation.
        generation: u32,
    },
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    generation: u32,
}

/// The records of a segment by their places, nothing checked yet but that they have one.
#[derive(Debug)]
pub struct Layout<'a> {
    bytes: &'a [u8],
    keys: &'a Keyring,
    at: Position,
    spans: Vec<Span>,
    flaw: Option<Flaw>,
}

/// The outcome of checking a range of records. Worth something only for the layout that made it.
#[derive(Debug)]
pub struct Check {
    of: Brand,
    range: Range<usize>,
    flaw: Option<Flaw>,
}

/// Which layout: the bytes it lies over, the keys it was checked with, and where it should go on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Brand {
    bytes: usize,
    length: usize,
    keys: usize,
    at: Position,
}

impl<'a> Layout<'a> {
    /// Finds the records of a segment that should go on from `at`.
    pub fn read(bytes: &'a [u8], keys: &'a Keyring, at: &Position) -> Self {
        let mut layout = Self { bytes, keys, at: *at, spans: Vec::new(), flaw: None };
        match judge_header(bytes, keys.ledger(), at) {
            Err(what) => layout.flaw = Some(Flaw::Segment { event: at.count, what }),
            Ok(()) => layout.find_records(),
        }
        layout
    }

    fn find_records(&mut self) {
        // A record is rarely shorter than this; one allocation then does.
        self.spans.reserve(self.bytes.len() / 128);
        let (mut start, mut generation) = (SEGMENT_HEADER_LEN, self.at.generation);
        while let Some(rest) = self.bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let event = self.at.count + self.spans.len() as u64;
            let flawed = |what| Some(Flaw::Event { event, what });
            let mut r = Reader(rest);
            let Some(fields) = r.u16().map(usize::from) else {
                self.flaw = flawed(EventFlaw::Ends);
                return;
            };
            if fields > FIELDS_MAX {
                self.flaw = flawed(EventFlaw::Fields { found: fields });
                return;
            }
            let end = start + HEADER_LEN + fields + MAC_LEN;
            if end > self.bytes.len() {
                self.flaw = flawed(EventFlaw::Ends);
                return;
            }
            self.spans.push(Span { start, end, generation });
            // The kind is not verified here. If somebody set this byte, the MAC of this very record does not match.
            if self.bytes.get(start + 3) == Some(&Kind::Rotated.code()) {
                generation += 1;
            }
            start = end;
        }
    }

    /// How many records were found.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// No record was found.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Checks version and MAC of a range of records; independent of any other range.
    pub fn check(&self, range: Range<usize>) -> Check {
        let spans = self.spans.get(range.clone()).unwrap_or_default();
        let flaw = spans.iter().zip(range.start..).find_map(|(span, at)| {
            let what = self.judge_record(span).err()?;
            Some(Flaw::Event { event: self.at.count + at as u64, what })
        });
        Check { of: self.brand(), range, flaw }
    }

    fn judge_record(&self, span: &Span) -> Result<(), EventFlaw> {
        // The predecessor's MAC lies right before the record: in the record before it, or in the segment's header.
        let before = span.start - MAC_LEN;
        let covered = self.bytes.get(before..span.end).ok_or(EventFlaw::Ends)?;
        let (sealed, stored) = covered.split_last_chunk().ok_or(EventFlaw::Ends)?;
        let version = *sealed.get(MAC_LEN + 2).ok_or(EventFlaw::Ends)?;
        if version != VERSION {
            return Err(EventFlaw::Version { found: version });
        }
        let key = self.keys.event(span.generation).ok_or(EventFlaw::Mac)?;
        if key.mac(sealed) == Mac(*stored) { Ok(()) } else { Err(EventFlaw::Mac) }
    }

    fn brand(&self) -> Brand {
        Brand {
            bytes: self.bytes.as_ptr().addr(),
            length: self.bytes.len(),
            keys: core::ptr::from_ref(self.keys).addr(),
            at: self.at,
        }
    }

    /// The records before the first bad place, now verified.
    ///
    /// # Panics
    /// If `checks` are of another layout, or do not cover every record: a record nobody checked is never believed.
    pub fn conclude(mut self, mut checks: Vec<Check>) -> Verified<'a> {
        let brand = self.brand();
        assert!(checks.iter().all(|check| check.of == brand), "the checks are of this layout");
        checks.sort_by_key(|check| (check.range.start, check.range.end));
        let covered = checks.iter().try_fold(0, |upto, check| {
            (check.range.start == upto && check.range.end >= upto).then_some(check.range.end)
        });
        assert_eq!(covered, Some(self.spans.len()), "the checks cover every record, once");
        if let Some(flaw) = checks.into_iter().find_map(|check| check.flaw) {
            let good = usize::try_from(flaw.event() - self.at.count).unwrap_or_default();
            self.spans.truncate(good);
            self.flaw = Some(flaw);
        }
        Verified { layout: self }
    }
}

fn judge_header(bytes: &[u8], ledger: LedgerId, at: &Position) -> Result<(), SegmentFlaw> {
    let mut r = Reader(bytes.get(..SEGMENT_HEADER_LEN).ok_or(SegmentFlaw::Ends)?);
    if r.array().as_ref() != Some(MAGIC) {
        return Err(SegmentFlaw::Magic);
    }
    if r.array().as_ref() != Some(ledger.as_bytes()) {
        return Err(SegmentFlaw::Ledger);
    }
    let found = r.u64().ok_or(SegmentFlaw::Ends)?;
    if found != at.count {
        return Err(SegmentFlaw::First { found, expected: at.count });
    }
    if r.mac() == Some(at.mac) {
        return Ok(());
    }
    match at.count.checked_sub(1) {
        Some(before) => Err(SegmentFlaw::Follows { before }),
        None => Err(SegmentFlaw::Predecessor),
    }
}

/// Records whose MACs were checked against the chain.
#[derive(Debug)]
pub struct Verified<'a> {
    layout: Layout<'a>,
}

/// One verified record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its header.
    pub header: Header,
    /// Its fields, not yet decoded.
    pub fields: &'a [u8],
    /// Its MAC.
    pub mac: Mac,
    /// Where it ends in the segment.
    pub end: usize,
}

impl<'a> Record<'a> {
    /// The event, if its kind is known and its fields decode.
    pub fn event(&self) -> Option<Event<'a>> {
        Event::decode(Kind::from_code(self.header.kind)?, self.fields)
    }
}

impl<'a> Verified<'a> {
    /// The records in order.
    pub fn records(&self) -> impl Iterator<Item = Record<'a>> + '_ {
        self.layout.spans.iter().filter_map(|span| {
            let record = self.layout.bytes.get(span.start..span.end)?;
            let (_, header) = Header::read(record)?;
            let fields = record.get(HEADER_LEN..record.len() - MAC_LEN)?;
            let mac = Mac(record.get(record.len() - MAC_LEN..)?.try_into().ok()?);
            Some(Record { header, fields, mac, end: span.end })
        })
    }

    /// The first bad place, if the segment does not verify to its end.
    pub const fn flaw(&self) -> Option<&Flaw> {
        self.layout.flaw.as_ref()
    }
}
