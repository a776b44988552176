//! Placeholder.

mod detect;

fn main() {
    drop(detect::policy_text(&|_| None));
}
