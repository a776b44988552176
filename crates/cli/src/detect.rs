//! Looks at a project and writes the `actum.toml` it could start with. Reads only what it is handed and runs nothing: what
//! it cannot tell it leaves out and says so, and the owner reads the text before it is accepted.

use std::fmt::Write as _;

/// Gives the text of a file at the root of the project, by name; `None` where there is none.
pub(crate) type Reader<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The text of a commented policy for the project that `read` shows. It always parses.
pub(crate) fn policy_text(read: &Reader<'_>) -> String {
    let project = Project { read };
    let mut steps = Vec::new();
    for kind in [cargo, node, python, go, maven, gradle, cmake, mix, ruby, composer] {
        let Some((suffix, found)) = kind(&project) else { continue };
        for mut step in found {
            // Each name once: what comes second says what it is for, as in `tests-node`.
            if steps.iter().any(|known: &Step| known.name == step.name) {
                step.name = format!("{}-{suffix}", step.name);
            }
            steps.push(step);
        }
    }
    for step in just(&project).into_iter().chain(make(&project)) {
        if steps.iter().all(|known| known.name != step.name) {
            steps.push(step);
        }
    }
    let mut text = HEAD.to_owned();
    for step in &steps {
        step.write(&mut text);
    }
    if steps.is_empty() {
        text.push_str(EXAMPLE);
    }
    text
}

const HEAD: &str = r#"# What counts as a safety step of this project, and what a pass of it is.
#
# A step is a name, such as `tests`, that an agent may claim to have performed. Such a claim is believed only if Actum
# itself ran one of the step's commands, saw it pass, and the files are still the same. To add a step, copy a table
# [steps.NAME] and change it. Every key is explained in docs/formats/policy.md of Actum.
#
#   commands   whole commands, word for word; any one of them is the step. "*" stands for one word, never for an option.
#   allow      further arguments that may follow a command. List only what does not weaken it: with a filter, `--no-run`
#              or `--help` a command still ends well and proves nothing.
#   env        names of variables to pass on, such as ["RUSTFLAGS"]. All others are left out, but for a few basic ones.
#   subject    what the step is performed on: "git" (all files of the work tree; the default); any "file", "dir" or "text",
#              and then each command says "{subject}" where its name stands; or only this one, such as "dir:src".
#   lifetime   how long a pass counts, such as "24h"; without it, for as long as the subject stays the same.
#   passes     the exit codes of a pass (0 by default), and patterns that the output must show.
#
# Editing this file changes nothing yet. In force is what was last accepted: look with `actum policy check`, accept with
# `actum policy accept`.

version = 1
"#;

const EXAMPLE: &str = r#"
# Nothing in this folder told how the project is tested, so there are no steps yet. Uncomment these lines and make them yours:
#
# [steps.tests]
# commands = [["./run-tests"]]
# allow = ["--verbose"]
# lifetime = "24h"
# passes = { exit = [0], output = ['\b[1-9][0-9]* passed'] }
"#;

/// A step as it will stand in the file.
struct Step {
    name: String,
    /// Said above the table, a line each.
    notes: Vec<String>,
    commands: Vec<Vec<String>>,
    allow: &'static [&'static str],
    lifetime: Option<&'static str>,
    /// One executed test at least; what a runner says when it found none does not match.
    output: Option<String>,
}

impl Step {
    fn new<const N: usize>(name: &str, commands: [&str; N]) -> Self {
        let words = |command: &str| command.split(' ').map(str::to_owned).collect();
        Self {
            name: name.to_owned(),
            notes: Vec::new(),
            commands: commands.into_iter().map(words).collect(),
            allow: &[],
            lifetime: None,
            output: None,
        }
    }

    /// A step `tests`: what it depends on beside the files changes in time, so a pass counts for a day.
    fn tests<const N: usize>(commands: [&str; N], output: Option<&str>) -> Self {
        let step = Self { lifetime: Some("24h"), ..Self::new("tests", commands) };
        match output {
            Some(pattern) => Self { output: Some(pattern.to_owned()), ..step },
            None => step
                .note("What it prints is not known, so a run without a single test would pass as well. If it prints how")
                .note("many passed, ask for it, such as: passes = { output = ['\\b[1-9][0-9]* passed'] }"),
        }
    }

    fn allow(self, allow: &'static [&'static str]) -> Self {
        Self { allow, ..self }
    }

    fn note(mut self, note: &str) -> Self {
        self.notes.push(note.to_owned());
        self
    }

    fn write(&self, text: &mut String) {
        text.push('\n');
        for note in &self.notes {
            line(text, format_args!("# {note}"));
        }
        line(text, format_args!("[steps.{}]", self.name));
        let commands: Vec<_> = self.commands.iter().map(|command| list(command)).collect();
        if let [command] = commands.as_slice() {
            line(text, format_args!("commands = [{command}]"));
        } else {
            line(text, format_args!("commands = ["));
            for command in &commands {
                line(text, format_args!("    {command},"));
            }
            line(text, format_args!("]"));
        }
        if !self.allow.is_empty() {
            line(text, format_args!("allow = {}", list(self.allow)));
        }
        if let Some(lifetime) = self.lifetime {
            line(text, format_args!("lifetime = \"{lifetime}\""));
        }
        if let Some(pattern) = &self.output {
            line(text, format_args!("passes = {{ exit = [0], output = ['{pattern}'] }}"));
        }
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _infallible = writeln!(text, "{line}");
}

/// A list as TOML has it. The words are this file's own and hold nothing to escape.
fn list(words: &[impl AsRef<str>]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{}\"", word.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}

/// What is asked of a project.
struct Project<'a> {
    read: &'a Reader<'a>,
}

impl Project<'_> {
    fn text(&self, name: &str) -> Option<String> {
        (self.read)(name)
    }

    fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    fn has_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// Whether one of the files is there and holds the word.
    fn mentions(&self, names: &[&str], word: &str) -> bool {
        names.iter().any(|name| self.text(name).is_some_and(|text| text.contains(word)))
    }
}

/// A suffix for names that are taken, and the steps.
type Found = Option<(&'static str, Vec<Step>)>;

const CARGO_ALLOW: &[&str] =
    &["--release", "--locked", "--offline", "--frozen", "--all-features", "--no-fail-fast"];
const CARGO_BUILD_ALLOW: &[&str] =
    &["--release", "--locked", "--offline", "--frozen", "--all-features", "--all-targets"];
const CARGO_PASSED: &str = r"^test result: ok\. [1-9]|\b[1-9][0-9]* tests? run: [1-9][0-9]* passed";

fn cargo(project: &Project<'_>) -> Found {
    let manifest = project.text("Cargo.toml")?;
    let workspace = manifest.lines().any(|line| line.trim_start().starts_with("[workspace"));
    let steps = if workspace {
        vec![
            Step::tests(
                ["cargo test --workspace", "cargo nextest run --workspace"],
                Some(CARGO_PASSED),
            )
            .allow(CARGO_ALLOW),
            Step::new("build", ["cargo build --workspace"]).allow(CARGO_BUILD_ALLOW),
            Step::new("lint", ["cargo clippy --workspace --all-targets -- -D warnings"]),
        ]
    } else {
        vec![
            Step::tests(["cargo test", "cargo nextest run"], Some(CARGO_PASSED)).allow(CARGO_ALLOW),
            Step::new("build", ["cargo build"]).allow(CARGO_BUILD_ALLOW),
            Step::new("lint", ["cargo clippy --all-targets -- -D warnings"]),
        ]
    };
    Some(("cargo", steps))
}

fn node(project: &Project<'_>) -> Found {
    let text = project.text("package.json")?;
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let script = |name: &str| package.get("scripts")?.get(name)?.as_str();
    let manager = node_manager(project, package.get("packageManager").and_then(|m| m.as_str()));

    let mut steps = Vec::new();
    // What `npm init` writes in place of tests only says that there are none.
    if let Some(script) = script("test").filter(|script| !script.contains("no test specified")) {
        let run = format!("{manager} run test");
        let output = node_passed(script);
        let tests = match manager {
            // `bun test` is another thing: a runner of its own.
            "bun" => Step::tests([run.as_str()], output),
            _ => Step::tests([&format!("{manager} test"), run.as_str()], output),
        };
        steps.push(tests.note("Runs the script of package.json, which is part of the subject."));
    }
    for name in ["build", "lint"] {
        if script(name).is_some() {
            steps.push(Step::new(name, [format!("{manager} run {name}").as_str()]));
        }
    }
    Some(("node", steps))
}

fn node_manager(project: &Project<'_>, declared: Option<&str>) -> &'static str {
    let managers = [
        ("pnpm", &["pnpm-lock.yaml"][..]),
        ("yarn", &["yarn.lock"]),
        ("bun", &["bun.lock", "bun.lockb"]),
    ];
    // As in "pnpm@9.1.0".
    let name = declared.and_then(|declared| declared.split('@').next());
    let by_name = managers.iter().find(|(manager, _)| name == Some(manager));
    let by_lock = || managers.iter().find(|(_, locks)| project.has_one_of(locks));
    let found = if name.is_some() { by_name } else { by_lock() };
    found.map_or("npm", |(manager, _)| manager)
}

/// What the runner that the script names prints when tests passed.
fn node_passed(script: &str) -> Option<&'static str> {
    let runners = [
        ("vitest", r"^\s*Tests\s.*\b[1-9][0-9]* passed"),
        ("jest", r"^Tests:\s.*\b[1-9][0-9]* passed"),
        ("react-scripts test", r"^Tests:\s.*\b[1-9][0-9]* passed"),
        ("mocha", r"^\s*[1-9][0-9]* passing"),
        ("node --test", r"^(# |ℹ )pass [1-9]"),
        ("playwright test", r"^\s*[1-9][0-9]* passed"),
        ("bun test", r"^\s*[1-9][0-9]* pass$"),
        ("tape ", r"^# pass\s+[1-9]"),
        ("ava", r"^\s*[1-9][0-9]* tests? passed"),
    ];
    // A whole word: `java` is not `ava`.
    let names = |runner: &str| {
        let mut ends = script.match_indices(runner).map(|(at, _)| script.get(..at));
        ends.any(|before| !before.is_some_and(|b| b.ends_with(|c: char| c.is_alphanumeric())))
    };
    runners.into_iter().find(|(runner, _)| names(runner)).map(|(_, pattern)| pattern)
}

fn python(project: &Project<'_>) -> Found {
    const FILES: &[&str] = &[
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "tox.ini",
        "pytest.ini",
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.txt",
        "Pipfile",
        ".pre-commit-config.yaml",
    ];
    if !project.has_one_of(FILES) && !project.has("conftest.py") {
        return None;
    }
    let runner = match project {
        p if p.has("uv.lock") => Some("uv run"),
        p if p.has("poetry.lock") => Some("poetry run"),
        p if p.has("pdm.lock") => Some("pdm run"),
        _ => None,
    };
    // As it is called bare, as a module, and by the tool that keeps the environment.
    let calls = |tool: &str| {
        let mut calls =
            vec![tool.to_owned(), format!("python -m {tool}"), format!("python3 -m {tool}")];
        calls.extend(runner.map(|runner| format!("{runner} {tool}")));
        calls
    };
    let with_calls = |step: Step, tool: &str| {
        let words = |call: String| call.split(' ').map(str::to_owned).collect();
        Step { commands: calls(tool).into_iter().map(words).collect(), ..step }
    };

    let mut steps = Vec::new();
    if project.mentions(FILES, "pytest") || project.has_one_of(&["pytest.ini", "conftest.py"]) {
        let tests = Step::tests([], Some(r"\b[1-9][0-9]* passed\b"));
        steps.push(with_calls(tests, "pytest").allow(&["-q", "-v", "-vv", "-x", "--tb=short"]));
    }
    if project.mentions(FILES, "ruff") || project.has_one_of(&["ruff.toml", ".ruff.toml"]) {
        steps.push(with_calls(Step::new("lint", []), "ruff check"));
    }
    if project.mentions(FILES, "mypy") || project.has_one_of(&["mypy.ini", ".mypy.ini"]) {
        let output = Some(r"^Success: no issues found in [1-9]".to_owned());
        steps.push(with_calls(Step { output, ..Step::new("types", []) }, "mypy ."));
    }
    if project.mentions(&["pyproject.toml"], "[build-system]") {
        match runner {
            Some("uv run") => steps.push(Step::new("build", ["uv build"])),
            Some("poetry run") => steps.push(Step::new("build", ["poetry build"])),
            _ => {}
        }
    }
    Some(("python", steps))
}

fn go(project: &Project<'_>) -> Found {
    if !project.has("go.mod") {
        return None;
    }
    let linter = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];
    let lint = if project.has_one_of(&linter) { "golangci-lint run" } else { "go vet ./..." };
    let tests = Step::tests(["go test -v ./...", "go test -v -count=1 ./..."], Some("^--- PASS: "))
        .allow(&["-race", "-count=1"])
        .note("With -v, since without it a package that has no test function prints `ok` as well.");
    let steps = vec![tests, Step::new("build", ["go build ./..."]), Step::new("lint", [lint])];
    Some(("go", steps))
}

fn maven(project: &Project<'_>) -> Found {
    if !project.has("pom.xml") {
        return None;
    }
    let passed = Some(r"Tests run: [1-9][0-9]*, Failures: 0, Errors: 0");
    let (tests, build) = if project.has("mvnw") {
        (
            Step::tests(["./mvnw test", "./mvnw verify", "mvn test", "mvn verify"], passed),
            Step::new("build", ["./mvnw package", "mvn package"]),
        )
    } else {
        (Step::tests(["mvn test", "mvn verify"], passed), Step::new("build", ["mvn package"]))
    };
    let quiet = &["-B", "--batch-mode", "-ntp", "--no-transfer-progress"];
    let build =
        build.allow(&["-B", "--batch-mode", "-ntp", "--no-transfer-progress", "-DskipTests"]);
    Some(("maven", vec![tests.allow(quiet), build]))
}

fn gradle(project: &Project<'_>) -> Found {
    const ALLOW: &[&str] = &["--no-daemon", "--console=plain", "--rerun-tasks", "--offline"];
    if !project.has_one_of(&[
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
    ]) {
        return None;
    }
    let program = if project.has("gradlew") { "./gradlew" } else { "gradle" };
    let tests = Step::tests([format!("{program} test").as_str()], None);
    let build = Step::new("build", [format!("{program} assemble").as_str()]);
    Some(("gradle", vec![tests.allow(ALLOW), build.allow(ALLOW)]))
}

fn cmake(project: &Project<'_>) -> Found {
    if !project.has("CMakeLists.txt") {
        return None;
    }
    let tests = Step::tests(
        ["ctest --test-dir build", "ctest --test-dir build --output-on-failure"],
        Some(r"^100% tests passed(, 0 tests failed)? out of [1-9]"),
    );
    let tests =
        tests.note("Tests what was built last, in the folder `build`: run the step `build` first.");
    Some(("cmake", vec![tests, Step::new("build", ["cmake --build build"])]))
}

fn mix(project: &Project<'_>) -> Found {
    if !project.has("mix.exs") {
        return None;
    }
    let passed = r"^([0-9]+ [a-z]+, )*[1-9][0-9]* (doctest|test|propert)[a-z]*, ([0-9]+ [a-z]+, )*0 failures";
    let lint = if project.mentions(&["mix.exs"], ":credo") {
        "mix credo"
    } else {
        "mix format --check-formatted"
    };
    let build = Step::new("build", ["mix compile", "mix compile --warnings-as-errors"]);
    Some(("mix", vec![Step::tests(["mix test"], Some(passed)), build, Step::new("lint", [lint])]))
}

fn ruby(project: &Project<'_>) -> Found {
    const FILES: &[&str] = &["Gemfile", "Gemfile.lock"];
    if !project.has("Gemfile") {
        return None;
    }
    let mut steps = Vec::new();
    if project.mentions(FILES, "rspec") || project.has(".rspec") {
        let passed = r"^[1-9][0-9]* examples?, 0 failures";
        steps.push(Step::tests(["bundle exec rspec", "rspec"], Some(passed)));
    } else if project.mentions(FILES, "minitest") && project.has("Rakefile") {
        let passed = r"^[1-9][0-9]* runs?, .*\b0 failures, 0 errors";
        steps.push(Step::tests(["bundle exec rake test", "rake test"], Some(passed)));
    }
    if project.mentions(FILES, "rubocop") || project.has(".rubocop.yml") {
        steps.push(Step::new("lint", ["bundle exec rubocop", "rubocop"]));
    }
    Some(("ruby", steps))
}

fn composer(project: &Project<'_>) -> Found {
    const FILE: &[&str] = &["composer.json"];
    if !project.has("composer.json") {
        return None;
    }
    let mut steps = Vec::new();
    if project.mentions(FILE, "pestphp/pest") {
        let passed = r"^\s*Tests:\s.*\b[1-9][0-9]* passed";
        steps.push(Step::tests(["vendor/bin/pest", "./vendor/bin/pest"], Some(passed)));
    } else if project.mentions(FILE, "phpunit/phpunit")
        || project.has_one_of(&["phpunit.xml", "phpunit.xml.dist"])
    {
        let passed = r"^OK \([1-9][0-9]* tests?,|^Tests: [1-9][0-9]*, Assertions: [1-9]";
        steps.push(Step::tests(["vendor/bin/phpunit", "./vendor/bin/phpunit"], Some(passed)));
    }
    if project.mentions(FILE, "phpstan/phpstan") {
        steps.push(Step::new(
            "lint",
            ["vendor/bin/phpstan analyse", "./vendor/bin/phpstan analyse"],
        ));
    }
    Some(("php", steps))
}

fn just(project: &Project<'_>) -> Vec<Step> {
    let file = ["justfile", "Justfile", ".justfile"].iter().find_map(|name| project.text(name));
    let file = file.unwrap_or_default();
    // The first word is the recipe, the others are its parameters.
    let names = heads(&file).filter_map(|head| head.split_whitespace().next());
    recipes("just", "justfile", &names.map(|name| name.trim_start_matches('@')).collect::<Vec<_>>())
}

fn make(project: &Project<'_>) -> Vec<Step> {
    let file = ["GNUmakefile", "makefile", "Makefile"].iter().find_map(|name| project.text(name));
    let file = file.unwrap_or_default();
    let targets = heads(&file).filter(|head| !head.contains('='));
    recipes("make", "Makefile", &targets.flat_map(str::split_whitespace).collect::<Vec<_>>())
}

/// What stands before the colon of a line that is not indented, no comment, and sets nothing.
fn heads(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (head, rest) = line.split_once(':')?;
        (!rest.starts_with('=') && !head.starts_with([' ', '\t', '#', '.'])).then_some(head)
    })
}

/// The steps that carry the name of a recipe.
fn recipes(program: &str, file: &str, names: &[&str]) -> Vec<Step> {
    let note = format!("Runs the recipe of the {file}, which is part of the subject.");
    let mut steps = Vec::new();
    if let Some(name) = ["test", "tests", "check"].into_iter().find(|name| names.contains(name)) {
        steps.push(Step::tests([format!("{program} {name}").as_str()], None).note(&note));
    }
    for name in ["build", "lint"] {
        if names.contains(&name) {
            steps.push(Step::new(name, [format!("{program} {name}").as_str()]).note(&note));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use actum_core::policy::{Element, Policy, Rule, Stream};

    use super::policy_text;

    /// The policy for a project with these files: it parses, whatever the project.
    fn policy(files: &[(&str, &str)]) -> (String, Policy) {
        let find = |name: &str| files.iter().find(|(known, _)| *known == name);
        let text = policy_text(&|name| find(name).map(|(_, text)| (*text).to_owned()));
        let policy = Policy::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (text, policy)
    }

    fn rule<'a>(policy: &'a Policy, step: &str) -> &'a Rule {
        policy.steps().find(|(name, _)| name.as_str() == step).expect("the step is there").1
    }

    /// Each step with its commands, a line each.
    fn summary(files: &[(&str, &str)]) -> String {
        let (_, policy) = policy(files);
        let lines = policy.steps().map(|(name, rule)| {
            let commands = rule.commands().iter().map(|command| {
                let words: Vec<_> = command.iter().map(Element::as_str).collect();
                words.join(" ")
            });
            let wants = if rule.passes().wants_output() { ", by what it prints" } else { "" };
            format!("{name}: {}{wants}", commands.collect::<Vec<_>>().join(" | "))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// `tests` of the project passes with the first output and with none of the others, although each ends with 0.
    fn check(files: &[(&str, &str)], passes: &str, fails: &[&str]) {
        let (_, policy) = policy(files);
        let judge = |output: &str| {
            let mut watch = rule(&policy, "tests").passes().watch();
            watch.feed(Stream::Out, output.as_bytes());
            watch.finish(0)
        };
        assert_eq!(judge(passes), Ok(()), "{passes}");
        for output in fails {
            assert!(judge(output).is_err(), "{output}");
        }
    }

    fn package(scripts: &str) -> String {
        format!(r#"{{ "name": "p", "scripts": {scripts} }}"#)
    }

    fn head() -> actum_core::SubjectName {
        actum_core::SubjectName::parse("HEAD").unwrap()
    }

    #[test]
    fn a_project_that_tells_nothing_gets_an_example_and_no_steps() {
        let (text, policy) = policy(&[]);
        assert_eq!(policy.steps().count(), 0);
        insta::assert_snapshot!(text, @r#"
        # What counts as a safety step of this project, and what a pass of it is.
        #
        # A step is a name, such as `tests`, that an agent may claim to have performed. Such a claim is believed only if Actum
        # itself ran one of the step's commands, saw it pass, and the files are still the same. To add a step, copy a table
        # [steps.NAME] and change it. Every key is explained in docs/formats/policy.md of Actum.
        #
        #   commands   whole commands, word for word; any one of them is the step. "*" stands for one word, never for an option.
        #   allow      further arguments that may follow a command. List only what does not weaken it: with a filter, `--no-run`
        #              or `--help` a command still ends well and proves nothing.
        #   env        names of variables to pass on, such as ["RUSTFLAGS"]. All others are left out, but for a few basic ones.
        #   subject    what the step is performed on: "git" (all files of the work tree; the default); any "file", "dir" or "text",
        #              and then each command says "{subject}" where its name stands; or only this one, such as "dir:src".
        #   lifetime   how long a pass counts, such as "24h"; without it, for as long as the subject stays the same.
        #   passes     the exit codes of a pass (0 by default), and patterns that the output must show.
        #
        # Editing this file changes nothing yet. In force is what was last accepted: look with `actum policy check`, accept with
        # `actum policy accept`.

        version = 1

        # Nothing in this folder told how the project is tested, so there are no steps yet. Uncomment these lines and make them yours:
        #
        # [steps.tests]
        # commands = [["./run-tests"]]
        # allow = ["--verbose"]
        # lifetime = "24h"
        # passes = { exit = [0], output = ['\b[1-9][0-9]* passed'] }
        "#);

        let without_signs =
            text.split("yours:\n#\n").nth(1).expect("the example").replace("# ", "");
        let example = Policy::parse(&format!("version = 1\n{without_signs}")).expect("it parses");
        assert_eq!(example.steps().count(), 1);
    }

    #[test]
    fn a_crate_gets_its_tests_its_build_and_its_lint() {
        let (text, policy) = policy(&[("Cargo.toml", "[package]\nname = \"a\"\n")]);
        insta::assert_snapshot!(text.split("version = 1\n").nth(1).expect("the steps"), @r#"
        [steps.tests]
        commands = [
            ["cargo", "test"],
            ["cargo", "nextest", "run"],
        ]
        allow = ["--release", "--locked", "--offline", "--frozen", "--all-features", "--no-fail-fast"]
        lifetime = "24h"
        passes = { exit = [0], output = ['^test result: ok\. [1-9]|\b[1-9][0-9]* tests? run: [1-9][0-9]* passed'] }

        [steps.build]
        commands = [["cargo", "build"]]
        allow = ["--release", "--locked", "--offline", "--frozen", "--all-features", "--all-targets"]

        [steps.lint]
        commands = [["cargo", "clippy", "--all-targets", "--", "-D", "warnings"]]
        "#);
        let argv = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let tests = rule(&policy, "tests");
        assert!(tests.admits(&argv("cargo test --release"), &head()));
        for line in
            ["cargo test --no-run", "cargo test a_filter", "cargo test --doc", "cargo test --help"]
        {
            assert!(!tests.admits(&argv(line), &head()), "{line}");
        }
        assert!(!rule(&policy, "lint").admits(&argv("cargo clippy"), &head()));
    }

    #[test]
    fn each_kind_of_project_gets_what_it_is_known_to_run() {
        insta::assert_snapshot!(summary(&[("Cargo.toml", "[workspace]\nmembers = []")]), @"
        build: cargo build --workspace
        lint: cargo clippy --workspace --all-targets -- -D warnings
        tests: cargo test --workspace | cargo nextest run --workspace, by what it prints
        ");
        let scripts = package(r#"{ "test": "jest", "build": "tsc", "lint": "eslint ." }"#);
        insta::assert_snapshot!(summary(&[("package.json", &scripts)]), @"
        build: npm run build
        lint: npm run lint
        tests: npm test | npm run test, by what it prints
        ");
        insta::assert_snapshot!(summary(&[("package.json", &scripts), ("pnpm-lock.yaml", "")]), @"
        build: pnpm run build
        lint: pnpm run lint
        tests: pnpm test | pnpm run test, by what it prints
        ");
        insta::assert_snapshot!(summary(&[("package.json", &scripts), ("yarn.lock", "")]), @"
        build: yarn run build
        lint: yarn run lint
        tests: yarn test | yarn run test, by what it prints
        ");
        insta::assert_snapshot!(summary(&[("package.json", &scripts), ("bun.lockb", "")]), @"
        build: bun run build
        lint: bun run lint
        tests: bun run test, by what it prints
        ");
        let project = "[project]\nname = 'a'\n[tool.ruff]\n[tool.mypy]\n[dependency-groups]\ndev = ['pytest']";
        insta::assert_snapshot!(summary(&[("pyproject.toml", project), ("uv.lock", "")]), @"
        lint: ruff check | python -m ruff check | python3 -m ruff check | uv run ruff check
        tests: pytest | python -m pytest | python3 -m pytest | uv run pytest, by what it prints
        types: mypy . | python -m mypy . | python3 -m mypy . | uv run mypy ., by what it prints
        ");
        insta::assert_snapshot!(summary(&[("pytest.ini", "")]), @"tests: pytest | python -m pytest | python3 -m pytest, by what it prints");
        insta::assert_snapshot!(summary(&[("go.mod", "module a")]), @"
        build: go build ./...
        lint: go vet ./...
        tests: go test -v ./... | go test -v -count=1 ./..., by what it prints
        ");
        insta::assert_snapshot!(summary(&[("pom.xml", ""), ("mvnw", "")]), @"
        build: ./mvnw package | mvn package
        tests: ./mvnw test | ./mvnw verify | mvn test | mvn verify, by what it prints
        ");
        insta::assert_snapshot!(summary(&[("build.gradle.kts", ""), ("gradlew", "")]), @"
        build: ./gradlew assemble
        tests: ./gradlew test
        ");
        insta::assert_snapshot!(summary(&[("CMakeLists.txt", "")]), @"
        build: cmake --build build
        tests: ctest --test-dir build | ctest --test-dir build --output-on-failure, by what it prints
        ");
        insta::assert_snapshot!(summary(&[("mix.exs", "{:credo, \"~> 1.7\"}")]), @"
        build: mix compile | mix compile --warnings-as-errors
        lint: mix credo
        tests: mix test, by what it prints
        ");
        insta::assert_snapshot!(summary(&[("Gemfile", "gem 'rspec'\ngem 'rubocop'")]), @"
        lint: bundle exec rubocop | rubocop
        tests: bundle exec rspec | rspec, by what it prints
        ");
        insta::assert_snapshot!(summary(&[("composer.json", "phpunit/phpunit phpstan/phpstan")]), @"
        lint: vendor/bin/phpstan analyse | ./vendor/bin/phpstan analyse
        tests: vendor/bin/phpunit | ./vendor/bin/phpunit, by what it prints
        ");
    }

    #[test]
    fn a_recipe_fills_in_only_what_nothing_else_gave() {
        let makefile =
            "CC := gcc\nX = a:b\nbuild lint: dep\n\ttest: no\n.PHONY: test\ncheck:\n\t./run\n";
        insta::assert_snapshot!(summary(&[("Makefile", makefile)]), @"
        build: make build
        lint: make lint
        tests: make check
        ");
        insta::assert_snapshot!(summary(&[("go.mod", ""), ("Makefile", makefile)]), @"
        build: go build ./...
        lint: go vet ./...
        tests: go test -v ./... | go test -v -count=1 ./..., by what it prints
        ");
        let justfile = "set shell := ['sh']\ntest filter='':\n  ./run\nlint:\n  ./lint\ndeploy build:\n  ./d\n";
        insta::assert_snapshot!(summary(&[("justfile", justfile)]), @"
        lint: just lint
        tests: just test
        ");
    }

    #[test]
    fn two_kinds_in_one_project_do_not_share_a_name() {
        let scripts = package(r#"{ "test": "vitest run", "build": "vite build" }"#);
        insta::assert_snapshot!(summary(&[("Cargo.toml", ""), ("package.json", &scripts)]), @"
        build: cargo build
        build-node: npm run build
        lint: cargo clippy --all-targets -- -D warnings
        tests: cargo test | cargo nextest run, by what it prints
        tests-node: npm test | npm run test, by what it prints
        ");
    }

    #[test]
    fn a_project_without_tests_gets_no_step_that_says_so() {
        let none = package(r#"{ "test": "echo \"Error: no test specified\" && exit 1" }"#);
        assert_eq!(summary(&[("package.json", &none)]), "");
        assert_eq!(summary(&[("package.json", "not json")]), "");
        assert_eq!(summary(&[("pyproject.toml", "[project]\nname = 'a'")]), "");
    }

    #[test]
    fn an_unknown_runner_is_said_to_be_unknown() {
        for script in ["./run-tests", "java -jar tests.jar"] {
            let (text, policy) =
                policy(&[("package.json", &package(&format!("{{ \"test\": \"{script}\" }}")))]);
            assert!(text.contains("# What it prints is not known"), "{text}");
            assert!(!rule(&policy, "tests").passes().wants_output());
        }
    }

    #[test]
    fn tests_pass_only_when_one_ran() {
        let cargo = [("Cargo.toml", "")];
        let empty = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n";
        let one = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        check(
            &cargo,
            &format!("{empty}{one}{empty}"),
            &["", empty, "test result: FAILED. 1 passed; 1 failed"],
        );
        check(
            &cargo,
            "     Summary [   0.006s] 1 test run: 1 passed, 0 skipped\n",
            &["     Summary [   0.000s] 0 tests run: 0 passed, 5 skipped\n"],
        );

        let node = |script: &str| package(&format!("{{ \"test\": \"{script}\" }}"));
        check(
            &[("package.json", &node("jest --ci"))],
            "Test Suites: 1 passed, 1 total\nTests:       2 skipped, 10 passed, 12 total\n",
            &[
                "No tests found, exiting with code 0\n",
                "Test Suites: 1 passed\nTests:       0 total\n",
            ],
        );
        check(
            &[("package.json", &node("vitest run"))],
            "\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\n\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m\n",
            &[
                "No test files found, exiting with code 0\n",
                " Test Files  1 passed\n      Tests  no tests\n",
            ],
        );
        check(
            &[("package.json", &node("mocha"))],
            "\n  1 passing (2ms)\n",
            &["  0 passing (1ms)\n"],
        );
        let tap = |count: u8| {
            format!("1..{count}\n# tests {count}\n# suites 0\n# pass {count}\n# fail 0\n")
        };
        check(&[("package.json", &node("node --test"))], &tap(1), &[&tap(0)]);
        check(
            &[("package.json", &node("node --test"))],
            "ℹ tests 12\nℹ pass 12\n",
            &["ℹ pass 0\n"],
        );

        check(
            &[("pytest.ini", "")],
            "============================== 10 passed in 0.01s ===============================\n",
            &[
                "============================ no tests ran in 0.00s =============================\n",
                "3 skipped in 0.01s\n",
            ],
        );
        check(
            &[("go.mod", "")],
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.002s\n",
            &[
                "?   \texample.com/a\t[no test files]\n",
                "testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.002s [no tests to run]\n",
                "--- SKIP: TestA (0.00s)\nPASS\n",
            ],
        );
        check(
            &[("pom.xml", "")],
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n",
            &["[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n", "[INFO] Tests are skipped.\n"],
        );
        check(
            &[("CMakeLists.txt", "")],
            "100% tests passed out of 1\n",
            &["50% tests passed, 1 tests failed out of 2\n"],
        );
        check(
            &[("CMakeLists.txt", "")],
            "100% tests passed, 0 tests failed out of 3\n",
            &["No tests were found!!!\n"],
        );
        check(
            &[("mix.exs", "")],
            "1 doctest, 2 tests, 0 failures\n",
            &["0 tests, 0 failures\n", "There are no tests to run\n", "2 tests, 1 failure\n"],
        );
        check(
            &[("Gemfile", "gem 'rspec'")],
            "3 examples, 0 failures\n",
            &["0 examples, 0 failures\n"],
        );
        check(
            &[("composer.json", "phpunit/phpunit")],
            "OK (3 tests, 5 assertions)\n",
            &["No tests executed!\n", "Tests: 3, Assertions: 0, Skipped: 3.\n"],
        );
    }
}
