//! Programs read the JSON: its keys are those of `docs/json.md`, no more and no fewer.
