//! Figures 2 to 6 of the paper, drawn from our own lines beside what the paper published, and three of ours: models of several sizes,
//! what fires again, payloads that wait.

use super::svg::{Bar, Block, Curve, Figure, Group, Place, Series, bars, curves, matrix};
use crate::agent::CAUTIOUS;
use crate::defence::Kind;
use crate::overhead::{Overhead, Row};
use crate::score::{
    ATTACKS, BESIDE, Evidence, STYLES, Scores, benign_rates, delayed, fired, first_success,
    is_published, matrix_rows, matrix_word, published, searched, success_rates,
};
use crate::stats::{Share, median};

/// Every figure for which there is something to draw.
pub(super) fn all(evidence: &Evidence) -> Vec<Figure> {
    let scores = Scores::new(&evidence.lines);
    let mut figures = vec![
        figure_2(&scores),
        figure_3(&scores),
        figure_5(&scores),
        figure_4(&scores),
        paradox(&scores),
    ];
    if let Some(overhead) = &evidence.overhead {
        figures.push(figure_6(overhead, evidence));
    }
    figures.extend([article(&scores), delay(&scores)]);
    figures
}

/// The style of a defence, the same in every figure.
fn style_of(kind: &Kind) -> usize {
    Kind::ALL.iter().position(|it| it == kind).unwrap_or_default()
}

fn series(kinds: &[Kind]) -> Vec<Series> {
    kinds.iter().map(|kind| (kind.title(), style_of(kind))).collect()
}

fn ours(agents: &[&str], of: impl Fn(&str, &Kind) -> Share) -> Vec<Group> {
    let group = |agent: &&str| Group {
        name: (*agent).to_owned(),
        note: String::new(),
        published: false,
        bars: BESIDE.iter().map(|kind| Bar::of(of(agent, kind))).collect(),
    };
    agents.iter().map(group).collect()
}

/// A published group: no defence, SENTINEL and the paper's own; it has no Actum.
fn theirs(model: &str, [none, sentinel, poem]: [f64; 3]) -> Group {
    let bars =
        vec![Bar::Published(none), Bar::Published(sentinel), Bar::Published(poem), Bar::Missing];
    Group { name: model.to_owned(), note: String::new(), published: true, bars }
}

fn figure_2(scores: &Scores<'_>) -> Figure {
    let agents = scores.agents();
    let panel = |attack: &str, name: &str| {
        let mut groups = ours(&agents, |agent, kind| success_rates(scores, agent, attack, kind));
        if !groups.is_empty() {
            let of = published::TABLE_I.iter().filter(|(_, of, _)| *of == attack);
            groups.extend(of.map(|(model, _, rates)| theirs(model, *rates)));
        }
        (name.to_owned(), groups)
    };
    let panels = [
        panel("basic", "Overt notes (basic)"),
        panel("relocated", "The same claim in general memory (relocated; not in the paper)"),
        panel("adaptive", "Reworded notes that avoid SENTINEL's signals (adaptive)"),
    ];
    let words = (
        "Figure 2: forged reasoning by agent and defence",
        "Attack success over three scenarios. Whiskers: 95 % Wilson intervals. A dash: not run, or not published.",
        "Overt forgeries stop at SENTINEL, rewordings do not; a ledger of what really ran stops both.",
    );
    bars("figure-2", words, "attack success, %", &series(&BESIDE), &panels)
}

fn figure_3(scores: &Scores<'_>) -> Figure {
    let mut agents = scores.agents();
    agents.retain(|agent| searched(scores, agent, &Kind::None).of > 0);
    let mut groups = ours(&agents, |agent, kind| searched(scores, agent, kind));
    for (group, agent) in groups.iter_mut().zip(&agents) {
        let first = first_success(scores, agent, &Kind::Sentinel);
        group.note = first.map_or("no success".to_owned(), |it| format!("first: query {it}"));
    }
    if !groups.is_empty() {
        groups.extend(published::TABLE_II.map(|(model, rates, first)| Group {
            note: format!("first: query {first:.0}"),
            ..theirs(model, rates)
        }));
    }
    let words = (
        "Figure 3: an automated attacker that knows SENTINEL",
        "Share of its notes that succeed. Below each victim: its first success past SENTINEL. Whiskers: 95 % Wilson intervals.",
        "What is written until it passes the filter still names a step that never ran, so the ledgers stop all of it.",
    );
    bars("figure-3", words, "notes that succeed, %", &series(&BESIDE), &[(String::new(), groups)])
}

fn figure_4(scores: &Scores<'_>) -> Figure {
    let mut agents = scores.agents();
    agents.retain(|agent| *agent != CAUTIOUS);
    let panel = |name: &str, styles: &[&str]| {
        let rate = |agent: &str, kind: &Kind| {
            let of = |style: &&str| benign_rates(scores, agent, style, kind);
            styles.iter().map(of).fold(Share::default(), Share::and)
        };
        (name.to_owned(), ours(&agents, rate))
    };
    let mut all = panel("All three styles of log together", &STYLES);
    if !all.1.is_empty() {
        all.1.extend(published::BENIGN.map(|(model, rates)| theirs(model, rates)));
    }
    let audit = panel("The audit-log style alone, which is worded like a forgery", &["audit"]);
    let words = (
        "Figure 4: legitimate skips on benign traces",
        "Steps that really ran and are rightly skipped: more is better. Whiskers: 95 % Wilson intervals.",
        "SENTINEL drops genuine logs that are worded like a forgery; a ledger knows that the step ran.",
    );
    bars("figure-4", words, "rightly skipped, %", &series(&BESIDE), &[all, audit])
}

/// What an attack is called in a figure.
fn attack_title(word: &str) -> String {
    let letter = match word {
        "forged-event" => "A: ",
        "cross-subject" => "B: ",
        "exempt" => "C: ",
        _ => "",
    };
    format!("{letter}{word}")
}

fn figure_5(scores: &Scores<'_>) -> Figure {
    let columns = Kind::ALL.map(|kind| kind.title());
    let row = |(attack, cells): (String, [Share; 8])| {
        let places = cells.iter().zip(&Kind::ALL).map(|(share, kind)| Place {
            words: matrix_word(*share).to_owned(),
            harm: *share,
            framed: is_published(&attack, kind, *share),
        });
        (attack_title(&attack), places.collect())
    };
    let (known, beyond): (Vec<_>, Vec<_>) =
        matrix_rows(scores).into_iter().partition(|(attack, _)| {
            let is_papers =
                ["basic", "relocated", "adaptive", "forged-event", "cross-subject", "exempt"];
            is_papers.contains(&attack.as_str()) || attack.starts_with("judgement")
        });
    let blocks = [
        Block { name: String::new(), rows: known.into_iter().map(row).collect() },
        Block {
            name: "What the paper leaves out".to_owned(),
            rows: beyond.into_iter().map(row).collect(),
        },
    ];
    let words = (
        "Figure 5: attackers who know the defence, on the obedient stub",
        "Hatched: succeeds in every trial. Framed: the paper has this place too (tables I, III, its judgements), and the same in it.",
        "The paper's defence stops what the paper tried. It does not look at whether a step passed, on which content, or whether its ledger is whole.",
    );
    matrix("figure-5", words, &columns, &blocks)
}

fn paradox(scores: &Scores<'_>) -> Figure {
    let group = |model: &&str| Group {
        name: (*model).to_owned(),
        note: String::new(),
        published: false,
        bars: ATTACKS
            .iter()
            .map(|attack| Bar::of(success_rates(scores, model, attack, &Kind::None)))
            .collect(),
    };
    let mut groups: Vec<Group> = scores.models().iter().rev().map(group).collect();
    if !groups.is_empty() {
        let mut models: Vec<&str> = published::TABLE_I.iter().map(|it| it.0).collect();
        models.dedup();
        for model in models.into_iter().rev() {
            let rate = |attack: &&str| {
                let of = |it: &&(&str, &str, [f64; 3])| it.0 == model && it.1 == *attack;
                let row = published::TABLE_I.iter().find(of);
                row.map_or(Bar::Missing, |it| Bar::Published(it.2[0]))
            };
            let bars = ATTACKS.iter().map(rate).collect();
            let (name, note) = (model.to_owned(), String::new());
            groups.push(Group { name, note, published: true, bars });
        }
    }
    let series: Vec<Series> = ATTACKS
        .iter()
        .zip([0, 6, 4])
        .map(|(attack, style)| ((*attack).to_owned(), style))
        .collect();
    let words = (
        "Figure 7 (ours): the capability paradox, the smallest model first, no defence",
        "Attack success over three scenarios, the same prompts for all of ours. Whiskers: 95 % Wilson intervals.",
        "The paper sees rewordings work better on stronger models. Ours are far smaller than all of its models.",
    );
    bars("figure-paradox", words, "attack success, %", &series, &[(String::new(), groups)])
}

fn figure_6(overhead: &Overhead, evidence: &Evidence) -> Figure {
    let curve = |name: &str, style: usize, of: &dyn Fn(&Row) -> Option<f64>| {
        let points = overhead.rows.iter().filter_map(|row| Some((f64::from(row.events), of(row)?)));
        let (name, points) = (name.to_owned(), points.collect());
        Curve { name, points, published: false, style, level: false }
    };
    let known = published::TABLE_IV.iter();
    let known = known.filter(|it| overhead.rows.iter().any(|row| row.events == it.0));
    let of_paper = Curve {
        name: "the paper's check, published".to_owned(),
        points: known.map(|it| (f64::from(it.0), super::nanos_of_micros(it.1))).collect(),
        published: true,
        style: 0,
        level: false,
    };
    let mut all = vec![
        curve("Actum: grounding check", 7, &|row| Some(row.grounding_ns)),
        curve("Actum: whole verification", 1, &|row| Some(row.verify_ns)),
        curve("the paper's check, Python, here", 0, &|row| row.python_grounding_ns),
        of_paper,
    ];
    let ends = |ns: f64| {
        let sizes: Vec<f64> = overhead.rows.iter().map(|row| f64::from(row.events)).collect();
        sizes.first().into_iter().chain(sizes.last()).map(|size| (*size, ns)).collect()
    };
    for ((model, times), style) in evidence.answer_ms.iter().zip([4, 2, 3]) {
        let ms: Vec<f64> =
            times.iter().filter_map(|ms| u32::try_from(*ms).ok()).map(f64::from).collect();
        if let Some(ns) = median(&ms).map(super::nanos) {
            let name = format!("one answer: {model}");
            all.push(Curve { name, points: ends(ns), published: false, style, level: true });
        }
    }
    all.push(Curve {
        name: "one call of GPT-4o-mini, published".to_owned(),
        points: ends(super::nanos(published::MODEL_CALL_MS)),
        published: true,
        style: 6,
        level: true,
    });
    all.retain(|curve| !curve.points.is_empty());
    let ticks = [
        (10.0, "10 ns"),
        (1e2, "100 ns"),
        (1e3, "1 µs"),
        (1e4, "10 µs"),
        (1e5, "100 µs"),
        (1e6, "1 ms"),
        (1e7, "10 ms"),
        (1e8, "100 ms"),
        (1e9, "1 s"),
        (1e10, "10 s"),
    ];
    let words = (
        "Figure 6: what a grounding check costs beside a model call",
        "Medians of one run on one machine; dashed and hollow: published. Both axes are logarithmic.",
        "The paper's check grows with its ledger, since it verifies the whole chain each time; ours looks up a run in a ledger that was verified when it was opened.",
    );
    let axes = ("events in the ledger", "time of one operation");
    curves("figure-6", words, axes, &ticks, &all)
}

fn article(scores: &Scores<'_>) -> Figure {
    let mut agents = scores.agents();
    agents.retain(|agent| *agent != CAUTIOUS && fired(scores, agent, "task-", &Kind::None).of > 0);
    let panel = |agent: &&str| {
        let group = |name: &str, kind: &str| Group {
            name: name.to_owned(),
            note: String::new(),
            published: false,
            bars: Kind::ALL.iter().map(|it| Bar::of(fired(scores, agent, kind, it))).collect(),
        };
        let groups = vec![group("planted tasks", "task-"), group("planted memory", "memory-")];
        ((*agent).to_owned(), groups)
    };
    let panels: Vec<(String, Vec<Group>)> = agents.iter().map(panel).collect();
    let words = (
        "Figure 8 (ours): what fires again in five rounds, the article's first test",
        "Sessions in which a planted payload did its harm. Whiskers: 95 % Wilson intervals.",
        "Published, tasks: 100 % with a stub and 60 % with a 4B model without the gate, 0 % behind it; a planted fact went through in five of five rounds.",
    );
    bars("figure-article", words, "attack success, %", &series(&Kind::ALL), &panels)
}

fn delay(scores: &Scores<'_>) -> Figure {
    let found = delayed(scores, &Kind::None);
    let columns: Vec<String> = found.iter().map(|(delay, _)| format!("after {delay}")).collect();
    let row = |kind: &Kind| {
        let place = |(_, share): (u32, Share)| Place {
            words: if share.of == 0 {
                "–".to_owned()
            } else {
                format!("{} of {}", share.hits, share.of)
            },
            harm: share,
            framed: false,
        };
        (kind.title(), delayed(scores, kind).into_iter().map(place).collect())
    };
    let rows = if columns.is_empty() { Vec::new() } else { Kind::ALL.iter().map(row).collect() };
    let words = (
        "Figure 9 (ours): payloads that wait, harm after so many clean sessions",
        "Of the ten payloads of the first test, each planted once and alone; the obedient stub. Hatched: all of them.",
        "Delay makes nothing weaker: what fires at once fires after a hundred sessions, and what is stopped stays stopped.",
    );
    matrix("figure-delay", words, &columns, &[Block { name: String::new(), rows }])
}
