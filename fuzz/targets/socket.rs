#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| actum_testkit::bodies::run("socket", bytes));
