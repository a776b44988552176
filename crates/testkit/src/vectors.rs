//! Reads the text form of vectors: `vectors/README.md` describes it. Shares no code with what it is used to check.

/// How often a byte may be repeated: more than any format here has room for.
const TIMES_MAX: usize = 1 << 20;

/// One case of `vectors/`.
#[derive(Debug)]
pub struct Vector {
    /// `segment`, `anchor` or `keyfile`.
    pub format: String,
    /// One root a generation.
    pub roots: Vec<[u8; 32]>,
    /// The ledger that is expected.
    pub ledger: [u8; 16],
    /// The generation in force, for an anchor.
    pub active: u32,
    /// What reading gives.
    pub expect: String,
    /// The bytes: one list a segment, else one.
    pub bodies: Vec<Vec<u8>>,
}

/// A vector with the name of its file.
pub type Named = (String, Vector);

/// Reads every vector of a folder of `vectors/`, by name.
///
/// # Errors
/// A folder that cannot be read, or the first file that is not a vector.
pub fn read_folder(folder: &str) -> Result<Vec<Named>, String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(folder);
    let entries =
        std::fs::read_dir(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    let mut vectors = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        vectors.push((
            name.clone(),
            Vector::parse(&text).map_err(|error| format!("{name}: {error}"))?,
        ));
    }
    vectors.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(vectors)
}

impl Vector {
    /// Reads a vector file; an error says what is wrong with it.
    ///
    /// # Errors
    /// A header that is not known, or a body that is not as the page says.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (headers, body) = text.split_once("\n\n").ok_or("no blank line")?;
        let mut vector = Self {
            format: String::new(),
            roots: Vec::new(),
            ledger: [0; 16],
            active: 0,
            expect: String::new(),
            bodies: vec![Vec::new()],
        };
        for line in headers.lines() {
            let (name, value) = line.split_once(": ").ok_or_else(|| format!("header `{line}`"))?;
            match name {
                "comment" => {}
                "format" => value.clone_into(&mut vector.format),
                "root" => vector.roots.push(fixed(value)?),
                "ledger" => vector.ledger = fixed(value)?,
                "active" => vector.active = value.parse().map_err(|_| "active".to_owned())?,
                "expect" => value.clone_into(&mut vector.expect),
                other => return Err(format!("header `{other}`")),
            }
        }
        for line in body.lines() {
            vector.take_line(line)?;
        }
        Ok(vector)
    }

    fn take_line(&mut self, line: &str) -> Result<(), String> {
        if line == "next segment" {
            self.bodies.push(Vec::new());
            return Ok(());
        }
        let body = self.bodies.last_mut().ok_or("no body")?;
        if let Some(text) = line.strip_prefix('|') {
            body.extend(text.strip_prefix(' ').unwrap_or(text).bytes());
            body.push(b'\n');
            return Ok(());
        }
        let words = line.split('#').next().unwrap_or_default();
        for word in words.split_whitespace() {
            match word.split_once('*') {
                Some((byte, times)) => {
                    let [byte] = fixed::<1>(byte)?;
                    let times: usize = times.parse().map_err(|_| format!("`{word}`"))?;
                    (times <= TIMES_MAX).then_some(()).ok_or_else(|| format!("`{word}`"))?;
                    body.extend(std::iter::repeat_n(byte, times));
                }
                None => body.extend(digits(word)?),
            }
        }
        Ok(())
    }
}

fn fixed<const N: usize>(text: &str) -> Result<[u8; N], String> {
    digits(text)?.try_into().map_err(|_| format!("`{text}` is not {N} bytes"))
}

fn digits(text: &str) -> Result<Vec<u8>, String> {
    let bad = || format!("`{text}` is not hexadecimal");
    (text.len().is_multiple_of(2)).then_some(()).ok_or_else(bad)?;
    (0..text.len() / 2)
        .map(|at| {
            let pair = text.get(at * 2..at * 2 + 2).ok_or_else(bad)?;
            u8::from_str_radix(pair, 16).map_err(|_| bad())
        })
        .collect()
}
