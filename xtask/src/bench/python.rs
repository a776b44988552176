//! The paper's ledger in plain Python: `bench/poem_reference.py`, run here and now.

use std::process::Command;

use serde_json::Value;

use crate::repository;

/// What the script measured.
#[derive(Debug)]
pub(super) struct Python {
    pub(super) sizes: Vec<Size>,
}

/// At one size of ledger. Times are CPU time of the process.
#[derive(Debug)]
pub(super) struct Size {
    pub(super) events: f64,
    pub(super) grounding_ns: f64,
    pub(super) verify_ns: f64,
    pub(super) bytes_json: f64,
    pub(super) bytes_text: f64,
}

impl Python {
    /// At a ledger of so many events.
    pub(super) fn at(&self, events: u32) -> Option<&Size> {
        self.sizes.iter().find(|size| size.events.total_cmp(&f64::from(events)).is_eq())
    }

    pub(super) fn largest(&self) -> Option<&Size> {
        self.sizes.last()
    }
}

pub(super) fn run(largest: u32) -> Result<Python, String> {
    let script = repository::root()?.join("bench/poem_reference.py");
    let mut command = Command::new("python3");
    command.arg(&script).args(["bench", "--json", "--max", &largest.to_string()]);
    let output = command.output().map_err(|error| format!("python3 cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{} ended with {}: {said}", script.display(), output.status));
    }
    let parsed: Option<Vec<Size>> = serde_json::from_slice::<Value>(&output.stdout)
        .ok()
        .and_then(|value| value.get("sizes")?.as_array()?.iter().map(size).collect());
    let sizes = parsed.ok_or_else(|| format!("{} printed something else", script.display()))?;
    Ok(Python { sizes })
}

fn size(row: &Value) -> Option<Size> {
    let number = |key| row.get(key).and_then(Value::as_f64);
    Some(Size {
        events: number("events")?,
        grounding_ns: number("grounding_cpu_ns")?,
        verify_ns: number("verify_cpu_ns")?,
        bytes_json: number("bytes_json")?,
        bytes_text: number("bytes_text")?,
    })
}
