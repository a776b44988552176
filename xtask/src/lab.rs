//! `cargo xtask lab`: plays the stubs and every recorded model, and makes the report anew. With `--write` it becomes the published
//! one in docs/lab/report; without, it has to be the published one, so that no figure in it is a memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::repository;

/// Where the books of recorded answers and the measured overhead lie.
const RECORDINGS: &str = "crates/lab/recordings";
const PUBLISHED: &str = "docs/lab/report";
/// What is published of a report; the rest anybody makes.
const KEPT: [&str; 2] = ["html", "svg"];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let writes = match arguments {
        [] => false,
        [word] if word == "--write" => true,
        _ => return Err("`lab` takes `--write` or nothing".to_owned()),
    };
    let root = repository::root()?;
    let (transcripts, made) = (root.join("target/lab"), root.join("target/lab-report"));
    for folder in [&transcripts, &made] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(said(folder))?;
        }
    }
    let books = books(&root)?;
    lab(&root, &["run", "--out", text(&transcripts)?])?;
    for book in &books {
        lab(&root, &["run", "--out", text(&transcripts)?, "--book", text(book)?])?;
    }
    let overhead = root.join(RECORDINGS).join("overhead.json");
    if overhead.exists() {
        fs::copy(&overhead, transcripts.join("overhead.json")).map_err(said(&overhead))?;
    }
    let mut report = vec!["report", text(&transcripts)?, "--out", text(&made)?];
    for book in &books {
        report.extend(["--book", text(book)?]);
    }
    lab(&root, &report)?;
    let published = root.join(PUBLISHED);
    if writes {
        renew(&made, &published)?;
        println!("{} is renewed", published.display());
        return Ok(ExitCode::SUCCESS);
    }
    let differs = differing(&made, &published)?;
    if differs.is_empty() {
        println!("{PUBLISHED} is what its transcripts say");
        return Ok(ExitCode::SUCCESS);
    }
    for name in differs {
        println!("{PUBLISHED}/{name} is not what its transcripts say");
    }
    println!("`cargo xtask lab --write` renews it; say in the commit why a figure changed");
    Ok(ExitCode::FAILURE)
}

fn said(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))
}

fn lab(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = repository::cargo(root);
    command.args(["run", "--quiet", "-p", "actum-lab", "--"]).args(arguments);
    let status = command.status().map_err(|error| format!("actum-lab cannot be run: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("actum-lab {} ended with {status}", arguments.join(" ")))
    }
}

fn books(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join(RECORDINGS);
    Ok(files(&folder)?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(said(folder))? {
        all.push(entry.map_err(said(folder))?.path());
    }
    all.sort();
    Ok(all)
}

fn is_kept(path: &Path) -> bool {
    let is_markdown = path.file_name().is_some_and(|name| name == "report.md");
    is_markdown || path.extension().is_some_and(|it| KEPT.iter().any(|kept| it == *kept))
}

fn renew(made: &Path, published: &Path) -> Result<(), String> {
    if published.exists() {
        fs::remove_dir_all(published).map_err(said(published))?;
    }
    fs::create_dir_all(published).map_err(said(published))?;
    for path in files(made)?.into_iter().filter(|path| is_kept(path)) {
        let to = published.join(path.file_name().unwrap_or_default());
        fs::copy(&path, &to).map_err(said(&to))?;
    }
    Ok(())
}

/// Names of files that differ, or that only one side has.
fn differing(made: &Path, published: &Path) -> Result<Vec<String>, String> {
    let named = |folder: &Path| -> Result<Vec<(String, Vec<u8>)>, String> {
        let kept = files(folder)?.into_iter().filter(|path| is_kept(path));
        kept.map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, fs::read(&path).map_err(said(&path))?))
        })
        .collect()
    };
    let (ours, theirs) = (named(made)?, named(published)?);
    let only = |one: &[(String, Vec<u8>)], other: &[(String, Vec<u8>)]| -> Vec<String> {
        one.iter().filter(|it| !other.contains(it)).map(|it| it.0.clone()).collect()
    };
    let mut differs = only(&ours, &theirs);
    differs.extend(only(&theirs, &ours));
    differs.sort();
    differs.dedup();
    Ok(differs)
}
