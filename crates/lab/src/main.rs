//! The binary `actum-lab`.

fn main() {}
