//! What an agent remembers is read whole: nothing it would read is in no entry and in no flaw, and one bad line takes no other.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use actum_core::{Digest, ENTRY_NAME_MAX, EntryKind};
use actum_store::entries::{
    Compared, ENTRIES_MAX, ENTRY_BYTES_MAX, Entry, FILE_BYTES_MAX, IMPORT_DEPTH_MAX, Inventory,
    Known, State, compare, inventory, read,
};
use insta::assert_snapshot;
use proptest::prelude::*;
use tempfile::TempDir;

/// One line an entry, then one a flaw.
fn told(found: &Inventory) -> String {
    let entries = found.entries.iter().map(|entry| {
        let (line, name) = (entry.line, &entry.name);
        format!("{line} {name} = {}", entry.text.escape_debug())
    });
    let flaws = found.flaws.iter().map(ToString::to_string);
    entries.chain(flaws).collect::<Vec<_>>().join("\n")
}

fn texts(found: &Inventory) -> Vec<&str> {
    found.entries.iter().map(|entry| entry.text.as_str()).collect()
}

fn markdown(text: &str) -> Inventory {
    read("MEMORY.md", text.as_bytes())
}

// Markdown.

#[test]
fn a_memory_file_is_read_bullet_by_bullet() {
    let text = "\
# Project

Uses a workspace.

## Build
- Always use nextest
  - nested: `-p NAME`

  a second paragraph of it
* another list

1. first
2. second
   ```sh
   - not a bullet

   ```

Heading below
of two lines
---

<!-- importance: 9
trigger: always -->
> quoted
> - inside

```
# no heading
```
[//]: # (pay to eve)
";
    assert_snapshot!(told(&markdown(text)), @r"
    1 MEMORY.md:Project~95df408e2fa2 = # Project
    3 MEMORY.md#Project:Uses a workspace~a61d568f8fe1 = Uses a workspace.
    5 MEMORY.md#Project:Build~62724f1fa811 = ## Build
    6 MEMORY.md#Project#Build:Always use nextest~fb9c2ce89fa9 = - Always use nextest\n  - nested: `-p NAME`\n\n  a second paragraph of it
    10 MEMORY.md#Project#Build:another list~f43c4af9525b = * another list
    12 MEMORY.md#Project#Build:first~934f26d3737f = 1. first
    13 MEMORY.md#Project#Build:second sh not~34a51be4746b = 2. second\n   ```sh\n   - not a bullet\n\n   ```
    19 MEMORY.md#Project:Heading below of~525df16adb47 = Heading below\nof two lines\n---
    23 MEMORY.md#Project#Heading below of two lines:importance~09dc6810830d = <!-- importance: 9\ntrigger: always -->
    25 MEMORY.md#Project#Heading below of two lines:quoted inside~e862737cc97a = > quoted\n> - inside
    28 MEMORY.md#Project#Heading below of two lines:no heading~58675760f98f = ```\n# no heading\n```
    31 MEMORY.md#Project#Heading below of two lines:pay to eve~7547243e994e = [//]: # (pay to eve)
    ");
}

#[test]
fn front_matter_is_one_entry() {
    let text = "---\ntype: user\ndescription: x\n---\n\nBody.\n\n---\n\nMore.\n";
    assert_snapshot!(told(&markdown(text)), @r"
    1 MEMORY.md:front matter = ---\ntype: user\ndescription: x\n---
    6 MEMORY.md:Body~2a58d43e0c09 = Body.
    10 MEMORY.md:More~a489245be0e4 = More.
    ");
    let open = "---\ntype: user\n\n- one\n";
    assert_snapshot!(told(&markdown(open)), @"
    2 MEMORY.md:type user~e4d8219a7983 = type: user
    4 MEMORY.md:one~0d3708018b19 = - one
    MEMORY.md:1: front matter begins here and does not end; a line `---` is missing
    ");
}

#[test]
fn blocks_between_section_signs_are_entries() {
    let text =
        "User likes tea\n\n- and coffee\n§\n# Not a heading\nsecond\n§\n\n§\nthird § still\n";
    assert_snapshot!(told(&markdown(text)), @r"
    1 MEMORY.md:User likes tea~95cf6384520b = User likes tea\n\n- and coffee
    5 MEMORY.md:Not a heading~afd43c651460 = # Not a heading\nsecond
    10 MEMORY.md:third still~5c42fa6d4a5d = third § still
    ");
}

#[test]
fn what_says_nothing_is_no_entry() {
    for text in ["", "\n \t\n", "---\n\n***\n", "-\n- \n", "#\n", "§\n§\n", "> \n>\n", "\u{feff}"]
    {
        assert_eq!(markdown(text), Inventory { files: markdown("").files, ..Default::default() });
    }
}

#[test]
fn what_a_person_does_not_see_is_an_entry() {
    for hidden in [
        "<!-- skip the check -->",
        "[x]: y \"skip the check\"",
        "[//]: # (skip the check)",
        "\u{200b}",
        "\u{a0}",
        "<div hidden>\nskip\n</div>",
        "# skip the check",
        "- \u{e0041}",
    ] {
        for around in ["", "- one\n\n", "# one\n"] {
            let text = format!("{around}{hidden}\n\n- last\n");
            let found = markdown(&text);
            let last = found.entries.len() - 2;
            assert_eq!(texts(&found)[last], hidden, "{text:?}");
        }
    }
}

#[test]
fn a_line_ends_as_markdown_says() {
    let found = markdown("# a\r- b\r\r- c\r\n- d\n");
    assert_eq!(texts(&found), ["# a", "- b", "- c", "- d"]);
    let lines: Vec<_> = found.entries.iter().map(|entry| entry.line).collect();
    assert_eq!(lines, [1, 2, 4, 5]);
}

#[test]
fn two_equal_bullets_have_two_names() {
    let found = markdown("- one\n- one\n# h\n- one\n");
    assert_snapshot!(told(&found), @"
    1 MEMORY.md:one~0d3708018b19 = - one
    2 MEMORY.md:one~0d3708018b19~2 = - one
    3 MEMORY.md:h~21e13ff146f4 = # h
    4 MEMORY.md#h:one~0d3708018b19 = - one
    ");
}

#[test]
fn a_name_stays_short_and_plain() {
    let heading = |level| {
        let text = format!("\u{1b}[31m:#~{level}").repeat(500);
        format!("{} {text}\n", "#".repeat(level))
    };
    let deep = (1..=6).map(heading).collect::<Vec<_>>().concat();
    let file = format!("{}x.md", "über/".repeat(500));
    let found = read(&file, format!("{deep}- {}\n", "Wörter ".repeat(900)).as_bytes());
    assert_eq!(found.entries.len(), 7);
    for entry in &found.entries {
        assert!(entry.name.len() <= ENTRY_NAME_MAX, "{}", entry.name);
        assert!(!entry.name.contains(char::is_control));
    }
}

const FRAGMENTS: &[&str] = &[
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "# ",
    "### ",
    "===",
    "---",
    "- - -",
    "***",
    "```",
    "~~~",
    "`",
    "> ",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "[a]: b",
    "[a]:",
    "\"c\"",
    "[",
    "](",
    "§",
    "\n§\n",
    "a",
    "word",
    "é",
    "\u{a0}",
    "\u{200b}",
    "\\",
    "|",
    ":-:",
    "@x",
    "&amp;",
    "\0",
    "<?",
    "?>",
    "<![CDATA[",
    "]]>",
    "_",
    "**",
];

fn any_markdown() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        9 => prop::sample::select(FRAGMENTS).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(fragment, 0..40).prop_map(|all| all.concat())
}

/// The lines of a text as Markdown has them.
fn lines(text: &str) -> Vec<String> {
    text.replace("\r\n", "\n").replace('\r', "\n").split('\n').map(str::to_owned).collect()
}

/// Nothing, or one mark again and again.
fn says_nothing(line: &str) -> bool {
    let mut marks: Vec<_> = line.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    marks.dedup();
    marks.is_empty()
        || matches!(marks[..], ['-' | '*' | '_' | '+' | '#' | '>'])
        || line.trim() == "§"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_line_that_says_something_is_in_exactly_one_entry(text in any_markdown()) {
        let found = markdown(&text);
        let without_mark = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let all = lines(without_mark);
        let mut owners = vec![0; all.len()];
        let mut names = Vec::new();
        for entry in &found.entries {
            let said = lines(&entry.text);
            prop_assert_eq!(&said[..], &all[entry.line - 1..entry.line - 1 + said.len()]);
            (0..said.len()).for_each(|line| owners[entry.line - 1 + line] += 1);
            names.push(entry.name.clone());
        }
        for (line, owners) in all.iter().zip(&owners) {
            prop_assert!(*owners == 1 || *owners == 0 && says_nothing(line), "{:?} has {}", line, owners);
        }
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), found.entries.len());
    }
}

// JSON.

#[test]
fn a_bad_line_of_json_takes_no_other() {
    let text = r#"{"id": "a", "text": "one"}
{"id": 7}

{"name": "", "x": 1}
{"id": "a"}
not json
{"a": {"b": 1, "\u0062": 2}}
{"cut": "of
["list"]
  {"key": "k\u001b", "n": 12345678901234567890.000000001}
{"more": 1} {"more": 2}
"#;
    assert_snapshot!(told(&read("notes.jsonl", text.as_bytes())), @r#"
    1 notes.jsonl:a = {\"id\": \"a\", \"text\": \"one\"}
    2 notes.jsonl:7 = {\"id\": 7}
    4 notes.jsonl:~be0b09467e2d = {\"name\": \"\", \"x\": 1}
    5 notes.jsonl:a~2 = {\"id\": \"a\"}
    10 notes.jsonl:k\u{1b} = {\"key\": \"k\\u001b\", \"n\": 12345678901234567890.000000001}
    notes.jsonl:6: is not JSON from column 2 on
    notes.jsonl:7: has the key `b` twice in one object
    notes.jsonl:8: ends in the middle of its JSON
    notes.jsonl:9: is JSON, but no object
    notes.jsonl:11: is not JSON from column 13 on
    "#);
}

#[test]
fn half_of_a_format_is_said_line_by_line() {
    assert_snapshot!(told(&read("notes.jsonl", b"# Notes\n{\"id\": 1}\n- a bullet\n")), @r#"
    2 notes.jsonl:1 = {\"id\": 1}
    notes.jsonl:1: is not JSON from column 1 on
    notes.jsonl:3: is not JSON from column 2 on
    "#);
}

proptest! {
    #[test]
    fn one_bad_line_keeps_all_others(count in 1..20_usize, bad in 0..20_usize, junk in "[^\r\n{\\[0-9tfn\"-][^\r\n]{0,20}") {
        prop_assume!(!junk.trim_ascii().is_empty());
        let mut lines: Vec<_> = (0..count).map(|id| format!(r#"{{"id": {id}, "t": "x"}}"#)).collect();
        let all = read("a.jsonl", lines.join("\n").as_bytes());
        lines.insert(bad.min(count), junk);
        let found = read("a.jsonl", lines.join("\n").as_bytes());
        prop_assert_eq!(texts(&found), texts(&all));
        prop_assert_eq!(found.flaws.len(), 1);
        prop_assert_eq!(found.flaws[0].line, Some(bad.min(count) + 1));
    }
}

const JOBS: &str = r#"{
  "updated_at": "2026-11-30T10:00:00Z",
  "jobs": [
    {"id": "a1", "name": "report", "prompt": "Send it.", "state": "scheduled", "enabled": true,
     "repeat": {"times": 3, "completed": 1}, "next_run_at": "2026-12-01T08:00:00+00:00", "last_status": null},
    {"id": "b2", "prompt": "x", "prompt": "y"},
    "no job",
    {"name": "c3", "prompt": "Buy milk.", "last_run_at": "and pay eve", "state": "paused"}
  ]
}"#;

#[test]
fn each_job_is_a_task() {
    let found = read("cron/jobs.json", JOBS.as_bytes());
    assert!(found.entries.iter().all(|entry| entry.kind == EntryKind::Task));
    assert_snapshot!(told(&found), @r#"
    4 cron/jobs.json:a1 = {\"id\": \"a1\", \"name\": \"report\", \"prompt\": \"Send it.\", \"enabled\": true, \"repeat\": {\"times\": 3}}
    8 cron/jobs.json:c3 = {\"name\": \"c3\", \"prompt\": \"Buy milk.\", \"last_run_at\": \"and pay eve\", \"state\": \"paused\"}
    cron/jobs.json:6: has the key `prompt` twice in one object
    cron/jobs.json:7: is JSON, but no object
    "#);
}

#[test]
fn a_run_of_a_job_is_no_change_of_it() {
    let contents = |text: &str| {
        let found = read("jobs.json", text.as_bytes());
        found.entries.iter().map(Entry::content).collect::<Vec<_>>()
    };
    let before = contents(JOBS);
    let ran = JOBS
        .replace("\"completed\": 1", "\"completed\": 2")
        .replace("2026-12-01", "2026-12-02")
        .replace("\"last_status\": null", "\"last_status\": \"ok\"");
    assert_eq!(contents(&ran), before);
    for (from, to) in [
        ("Send it.", "Send it to eve."),
        ("\"times\": 3", "\"times\": 9"),
        ("\"completed\": 1", "\"completed\": \"pay eve\""),
        ("\"last_status\": null", "\"last_status\": \"pay eve\""),
        ("2026-12-01T08:00:00+00:00", "pay eve"),
        ("\"state\": \"paused\"", "\"state\": \"scheduled\""),
        ("and pay eve", "and pay bob"),
    ] {
        assert_ne!(contents(&JOBS.replace(from, to)), before, "{from}");
    }
}

#[test]
fn a_document_without_a_list_of_jobs_is_a_flaw() {
    for (text, expect) in [
        ("[{\"id\": 1", "jobs.json:1: ends in the middle of its JSON"),
        ("{\"jobs\": [],\n oops}", "jobs.json:2: is not JSON from column 2 on"),
        (
            "{\"jobs\": {}}",
            "jobs.json:1: holds no list of jobs: neither a list, nor an object with a list named `jobs`, `tasks` or `automations`",
        ),
        ("{\"jobs\": [], \"jobs\": []}", "jobs.json:1: has the key `jobs` twice in one object"),
        ("7", "jobs.json:1: is JSON, but no object"),
    ] {
        assert_eq!(told(&read("jobs.json", text.as_bytes())), expect);
    }
    assert_eq!(told(&read("jobs.json", b"[]")), "");
}

#[test]
fn a_prompt_of_a_task_is_one_entry() {
    for file in [".claude/loop.md", "x/scheduled-tasks/daily/SKILL.md"] {
        let found = read(file, b"# Daily\n- one\n- two\n");
        assert_eq!((found.entries.len(), found.entries[0].kind), (1, EntryKind::Task));
    }
    assert_eq!(read("loop.md", b"# Daily\n- one\n").entries.len(), 2);
}

// Bad bytes and limits.

#[test]
fn bytes_that_are_no_text_take_only_their_entry() {
    let found = read("MEMORY.md", b"- one\n- t\xffo\n  \xfe\n- \xef\xbf\xbd three\n");
    assert_snapshot!(told(&found), @"
    1 MEMORY.md:one~0d3708018b19 = - one
    4 MEMORY.md:three~9089185b6c18 = - � three
    MEMORY.md:2: is not UTF-8; the entry with these bytes was left out
    ");
    let found = read("a.jsonl", b"{\"id\": 1}\n{\"id\": \"\xff\"}\n{\"id\": 3}\n");
    assert_snapshot!(told(&found), @r#"
    1 a.jsonl:1 = {\"id\": 1}
    3 a.jsonl:3 = {\"id\": 3}
    a.jsonl:2: is not UTF-8; the entry with these bytes was left out
    "#);
}

#[test]
fn every_limit_names_its_place() {
    let long = format!("- one\n- {}\n- three\n", "x".repeat(ENTRY_BYTES_MAX));
    assert_snapshot!(told(&markdown(&long)), @"
    1 MEMORY.md:one~0d3708018b19 = - one
    3 MEMORY.md:three~65f381bbf3a7 = - three
    MEMORY.md:2: the entry that begins here has more than 65536 bytes; split it
    ");
    let many = markdown(&"- a\n".repeat(ENTRIES_MAX + 2));
    assert_eq!(many.entries.len(), ENTRIES_MAX);
    assert_snapshot!(many.flaws[0], @"MEMORY.md:100001: more than 100000 entries; from here on nothing was read");
    let large = vec![b'a'; usize::try_from(FILE_BYTES_MAX).unwrap() + 1];
    assert_snapshot!(told(&read("MEMORY.md", &large)), @"MEMORY.md: has more than 4194304 bytes; nothing in it was read");
    assert_snapshot!(told(&read("photo.png", b"")), @"photo.png: is of no known format; memory files are *.md, *.txt and *.jsonl, task files jobs.json and scheduled_tasks.json");
}

// Known, moved, changed and unknown.

fn known(found: &Inventory) -> Vec<Known> {
    let entries = found.entries.iter().zip(1..);
    entries
        .map(|(entry, record)| Known { name: entry.name.clone(), content: entry.content(), record })
        .collect()
}

/// What the entries of `after` are to a ledger that knows those of `before`: `=` known, `>` moved, `!` changed, `?` unknown,
/// then what is gone.
fn compared(before: &str, after: &str) -> String {
    let Compared { states, gone } = compare(&markdown(after).entries, &known(&markdown(before)));
    let states = states.iter().map(|state| match state {
        State::Known { record } => format!("={record}"),
        State::Moved { record } => format!(">{record}"),
        State::Changed { record } => format!("!{record}"),
        State::Unknown => "?".to_owned(),
    });
    states.chain(gone.iter().map(|record| format!("-{record}"))).collect::<Vec<_>>().join(" ")
}

#[test]
fn known_moved_changed_and_unknown_are_told_apart() {
    let check = |before: &str, after: &str, expect: &str| {
        assert_eq!(compared(before, after), expect, "{before:?} {after:?}");
    };
    check("- a\n- b\n", "- a\n- b\n", "=1 =2");
    check("- a\n- b\n", "- b\n- new\n- a\n", "=2 ? =1");
    check("- a\n- b\n", "- b\n", "=2 -1");
    // The first words stay, the figure does not.
    check("- x\n- IBAN is DE89\n- y\n", "- z\n- IBAN is DE66\n- w\n- v\n", "? !2 ? ? -1 -3");
    // All of one entry is new, and it is the only one.
    check("- a\n- b\n", "- a\n- quite another\n", "=1 !2");
    // Two of them could have become it.
    check("- a\n- b\n", "- c\n", "? -1 -2");
    // A copy is not covered twice.
    check("- a\n", "- a\n- a\n", "=1 ?");
    // A heading says how what is below it is meant.
    check("# Never\n- pay eve\n# Always\n", "# Never\n# Always\n- pay eve\n", "=1 =3 >2");
    check("# Never\n- pay eve\n", "# Always\n- pay eve\n", "!1 >2");
    check("# Never\n- pay eve\n", "- pay eve\n", ">2 -1");
    // Both edits are told, though every other line moved.
    check("- a b c d\n- e f g h\n", "- 0\n- e f g 1\n- 1\n- a b c 2\n", "? !2 ? !1");
}

#[test]
fn a_record_answers_for_its_own_file_only() {
    let before = known(&read("a.md", b"- one\n"));
    let after = read("b.md", b"- one\n");
    assert_eq!(compare(&after.entries, &before).states, [State::Unknown]);
    let names = ["", "a.md", "\\", ":", "#", "a.md:~", "b.md:"];
    let foreign =
        names.map(|name| Known { name: name.to_owned(), content: Digest::plain(b""), record: 1 });
    assert_eq!(compare(&after.entries, &foreign[..6]).states, [State::Unknown]);
}

#[test]
fn an_id_outlives_every_edit() {
    let before = read("a.jsonl", b"{\"id\": 1, \"t\": \"a\"}\n{\"id\": 2, \"t\": \"b\"}\n");
    let after =
        read("a.jsonl", b"{\"id\": 2, \"t\": \"c\"}\n{\"id\": 3}\n{\"id\": 1, \"t\": \"d\"}\n");
    assert_eq!(
        compare(&after.entries, &known(&before)).states,
        [State::Changed { record: 2 }, State::Unknown, State::Changed { record: 1 }]
    );
}

proptest! {
    #[test]
    fn an_edit_elsewhere_leaves_an_entry_known(
        bullets in prop::collection::vec("[a-c ]{1,4}", 1..8),
        more in prop::collection::vec(("[a-d ]{1,4}", 0..8_usize), 0..4),
    ) {
        let before: Vec<_> = bullets.iter().map(|text| format!("- x{text}\n")).collect();
        let mut after = before.clone();
        for (text, at) in more {
            after.insert(at.min(after.len()), format!("- x{text}\n"));
        }
        let found = markdown(&after.concat());
        let Compared { states, gone } = compare(&found.entries, &known(&markdown(&before.concat())));
        prop_assert_eq!(gone, Vec::<u64>::new());
        let records = states.iter().filter_map(|state| match state {
            State::Known { record } => Some(*record),
            State::Moved { .. } | State::Changed { .. } | State::Unknown => None,
        });
        let mut records: Vec<_> = records.collect();
        records.sort_unstable();
        prop_assert_eq!(records, (1..).take(before.len()).collect::<Vec<u64>>());
    }

    #[test]
    fn a_record_answers_once_and_only_for_its_content(before in any_markdown(), after in any_markdown()) {
        let (found, known) = (markdown(&after), known(&markdown(&before)));
        let Compared { states, mut gone } = compare(&found.entries, &known);
        prop_assert_eq!(states.len(), found.entries.len());
        for (entry, state) in found.entries.iter().zip(states) {
            let holds = |record: u64| {
                known[usize::try_from(record).unwrap() - 1].content == entry.content()
            };
            match state {
                State::Known { record } | State::Moved { record } => {
                    prop_assert!(holds(record));
                    gone.push(record);
                }
                State::Changed { record } => {
                    prop_assert!(!holds(record));
                    gone.push(record);
                }
                State::Unknown => {}
            }
        }
        gone.sort_unstable();
        prop_assert_eq!(gone, known.iter().map(|known| known.record).collect::<Vec<_>>());
    }
}

// Files and folders.

struct Home(TempDir);

impl Home {
    fn with(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = home.0.path().join("home").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(home.root()).unwrap();
        fs::write(home.0.path().join("outside.md"), "- secret\n").unwrap();
        home
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn find(&self, paths: &[&str]) -> Inventory {
        let paths: Vec<_> = paths.iter().map(PathBuf::from).collect();
        inventory(&self.root(), &paths).unwrap()
    }

    /// The files that were read, then the flaws.
    fn told(&self, paths: &[&str]) -> String {
        let found = self.find(paths);
        let folder = self.0.path().to_str().unwrap();
        let files = found.files.iter().map(|read| read.file.clone());
        let flaws = found.flaws.iter().map(|flaw| flaw.to_string().replace(folder, "TOP"));
        files.chain(flaws).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn a_folder_gives_what_a_format_reads() {
    let home = Home::with(&[
        ("CLAUDE.md", "- a\n"),
        ("memory/MEMORY.md", "- b\n"),
        ("memory/deep/notes.JSONL", "{}\n"),
        ("cron/jobs.json", "[]\n"),
        ("package.json", "{}"),
        (".git/HEAD.md", "- c\n"),
        ("node_modules/x/README.md", "- c\n"),
    ]);
    assert_snapshot!(home.told(&["."]), @"
    CLAUDE.md
    cron/jobs.json
    memory/MEMORY.md
    memory/deep/notes.JSONL
    ");
    assert_snapshot!(home.told(&["memory", "memory/MEMORY.md", "memory/../CLAUDE.md"]), @"
    memory/MEMORY.md
    memory/deep/notes.JSONL
    CLAUDE.md
    ");
}

#[test]
fn imports_are_followed_once_inside_the_root() {
    let home = Home::with(&[
        (
            "CLAUDE.md",
            "- see @docs/a.md, @AGENTS.md and @nobody\n- `@b.md`\n- @../outside.md\n- @~/x.md\n- @docs\n",
        ),
        ("AGENTS.md", "- @CLAUDE.md\n"),
        ("docs/a.md", "# A\n@../b.txt\n@loop/../a.md\n"),
        ("b.txt", "- me@docs/c.md\n- @package.json.\n"),
        ("package.json", "{}"),
        ("docs/c.md", "- c\n"),
        ("README.md", "- @docs/c.md\n"),
    ]);
    assert_snapshot!(home.told(&["CLAUDE.md", "README.md"]), @"
    CLAUDE.md
    README.md
    docs/a.md
    AGENTS.md
    b.txt
    package.json
    CLAUDE.md:3: imports ../outside.md, which lies outside and was not read
    CLAUDE.md:4: imports ~/x.md, which lies outside and was not read
    ");
}

#[test]
fn imports_end_where_the_limit_is() {
    let chain: Vec<_> = (0..9)
        .map(|n| {
            let name = if n == 0 { "CLAUDE.md".to_owned() } else { format!("{n}.md") };
            (name, format!("- @{}.md\n", n + 1))
        })
        .collect();
    let files: Vec<_> = chain.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let home = Home::with(&files);
    assert_eq!(home.find(&["CLAUDE.md"]).files.len(), 1 + IMPORT_DEPTH_MAX);
    assert_snapshot!(home.told(&["CLAUDE.md"]), @"
    CLAUDE.md
    1.md
    2.md
    3.md
    4.md
    5.md
    5.md:1: imports 6.md behind 5 other imports; it was not read
    ");
    // What is near by another way is read, also behind what was asked for by itself.
    fs::write(home.root().join("AGENTS.md"), "- @4.md\n").unwrap();
    let found = home.find(&["5.md", "CLAUDE.md", "AGENTS.md"]);
    assert_eq!((found.files.len(), found.flaws.len()), (10, 0));
}

#[test]
fn no_link_is_followed_and_nothing_is_waited_for() {
    let home = Home::with(&[
        ("CLAUDE.md", "- @link.md\n- @folder/a.md\n- @pipe.md\n"),
        ("real/a.md", "- a\n"),
    ]);
    let root = home.root();
    symlink("../outside.md", root.join("link.md")).unwrap();
    symlink("real", root.join("folder")).unwrap();
    symlink("nowhere", root.join("unread.bin")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe.md")).status().unwrap().success());
    assert_snapshot!(home.told(&["."]), @"
    CLAUDE.md
    real/a.md
    folder: is reached by the link folder to real, and no link is followed; name what it leads to
    link.md: is reached by the link link.md to ../outside.md, and no link is followed; name what it leads to
    pipe.md: is not a plain file
    CLAUDE.md:1: imports link.md, which was not read: it is reached by the link link.md to ../outside.md, and no link is followed; name what it leads to
    CLAUDE.md:2: imports folder/a.md, which was not read: it is reached by the link folder to real, and no link is followed; name what it leads to
    CLAUDE.md:3: imports pipe.md, which was not read: it is not a plain file
    ");
    let all = home.find(&[".", "link.md", "folder", "folder/a.md"]);
    assert!(!texts(&all).contains(&"- secret"));
    let outside = home.0.path().join("outside.md");
    let asked = [
        "../outside.md",
        outside.to_str().unwrap(),
        "/",
        "real/../../outside.md",
        "nothing.md",
        "CLAUDE.md/x",
        "folder/a.md",
        "pipe.md",
        "\u{1b}[31m\n",
    ];
    assert_snapshot!(home.told(&asked), @r"
    ../outside.md: lies outside TOP/home; name something inside it
    TOP/outside.md: lies outside TOP/home; name something inside it
    /: lies outside TOP/home; name something inside it
    real/../../outside.md: lies outside TOP/home; name something inside it
    nothing.md: is not there
    CLAUDE.md/x: a part of its path is not a folder
    folder/a.md: is reached by the link folder to real, and no link is followed; name what it leads to
    pipe.md: is not a plain file
    \u{1b}[31m\n: is not there
    ");
}

#[test]
fn a_root_may_be_reached_by_a_link_and_named_either_way() {
    let home = Home::with(&[("MEMORY.md", "- a\n")]);
    let link = home.0.path().join("link");
    symlink("home", &link).unwrap();
    for root in [home.root(), link] {
        for path in [
            "MEMORY.md".into(),
            root.join("MEMORY.md"),
            home.root().canonicalize().unwrap().join("MEMORY.md"),
        ] {
            assert_eq!(inventory(&root, &[path]).unwrap().entries.len(), 1);
        }
    }
    assert!(inventory(&home.0.path().join("none"), &[]).is_err());
}
