//! `cargo xtask sim`: many sessions, one ledger, a disk that fails and a machine that loses power, all chosen by a seed.
//! After every step the ledger is read from its bytes alone and compared with a plain model of what was acknowledged.
//!
//! The key and the ledger's id are drawn by the system, so a seed repeats what happens and not which bytes it happens to:
//! what is compared is the story, line by line.

mod model;
mod world;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::repository;

const SEEDS: &str = "xtask/seeds.txt";
const STEPS: u32 = 120;
const SECONDS: u64 = 60;

#[derive(Debug, Default)]
struct Options {
    seed: Option<u64>,
    steps: Option<u32>,
    seconds: Option<u64>,
}

/// One seed with its story, or the kept seeds, one of them twice, and then new ones for a while.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let options = options(arguments)?;
    let steps = options.steps.unwrap_or(STEPS);
    if let Some(seed) = options.seed {
        let played = world::play(seed, steps);
        print!("{}", played.story);
        return Ok(report(seed, steps, &played));
    }
    let kept = kept_seeds()?;
    for &seed in &kept {
        let played = world::play(seed, steps);
        if played.wrong.is_some() {
            return Ok(report(seed, steps, &played));
        }
    }
    let first = kept.first().copied().unwrap_or(1);
    if world::play(first, steps).story != world::play(first, steps).story {
        println!("seed {first} told two stories: something in it is not decided by the seed");
        return Ok(ExitCode::FAILURE);
    }
    let until = Instant::now() + Duration::from_secs(options.seconds.unwrap_or(SECONDS));
    let mut seed = new_seed();
    let mut new = 0_u32;
    while Instant::now() < until {
        let played = world::play(seed, steps);
        if played.wrong.is_some() {
            return Ok(report(seed, steps, &played));
        }
        (seed, new) = (seed.wrapping_add(1), new + 1);
    }
    println!(
        "sim: {} kept seeds and {new} new ones, {steps} steps each, all as the model says",
        kept.len()
    );
    Ok(ExitCode::SUCCESS)
}

fn report(seed: u64, steps: u32, played: &world::Played) -> ExitCode {
    match &played.wrong {
        None => {
            println!("seed {seed}: as the model says");
            ExitCode::SUCCESS
        }
        Some(wrong) => {
            println!("seed {seed} is red: {wrong}");
            println!("again: cargo xtask sim --seed {seed} --steps {steps}; keep it in {SEEDS}");
            ExitCode::FAILURE
        }
    }
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse::<u64>().ok());
        let value = value.ok_or_else(|| format!("`{name}` needs a number"))?;
        match name.as_str() {
            "--seed" => options.seed = Some(value),
            "--steps" => options.steps = u32::try_from(value).ok(),
            "--seconds" => options.seconds = Some(value),
            other => return Err(format!("`sim` knows --seed, --steps and --seconds, not {other}")),
        }
    }
    Ok(options)
}

fn kept_seeds() -> Result<Vec<u64>, String> {
    let path = repository::root()?.join(SEEDS);
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let number = line.split_whitespace().next().unwrap_or_default();
            number
                .parse()
                .map_err(|_not_one| format!("{SEEDS}: `{line}` does not begin with a seed"))
        })
        .collect()
}

fn new_seed() -> u64 {
    actum_store::read_clocks().wall_ms.wrapping_mul(1_000_003)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_seeds_are_as_the_model_says_and_tell_one_story() {
        for seed in kept_seeds().unwrap() {
            let played = world::play(seed, STEPS);
            assert_eq!(played.wrong, None, "seed {seed}\n{}", played.story);
        }
        let seed = kept_seeds().unwrap()[0];
        assert_eq!(world::play(seed, STEPS).story, world::play(seed, STEPS).story);
    }
}
