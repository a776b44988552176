//! A second set of the article's experiments, written independently of the first: other payloads, other cases, other work. Where both sets agree, it is no matter of how a set was written; where they differ, it is.
//! `docs/lab/second.md` has what was expected of it before it ran, and what came of that.

pub mod carryover;
pub mod dormant;
pub mod laundered;
pub mod script;
pub mod tampered;
pub mod work;
