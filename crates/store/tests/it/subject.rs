//! What is counted in a subject, and that nothing in git's configuration or the environment changes it.
//!
//! The real `git` is the reference for the list of paths; the shipped code never runs it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use actum_core::{Digest, SubjectKind, SubjectName};
use actum_store::subject::{
    Found, GitId, Head, Line, Manifest, ManifestError, SubjectError, Taken, TreePath, take,
};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder that goes away with its test.
struct Project(TempDir);

impl Project {
    fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn repository() -> Self {
        let project = Self::empty();
        project.git(&["init", "-q", "-b", "main"]);
        project
    }

    /// With `src/lib.rs` and `run.sh` committed.
    fn committed() -> Self {
        let project = Self::repository();
        project.write("src/lib.rs", "fn one() {}\n");
        project.write("run.sh", "echo\n");
        project.commit("one");
        project
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    fn git(&self, arguments: &[&str]) -> Vec<u8> {
        git_in(self.path(), arguments)
    }

    fn try_take(&self, name: &str) -> Result<Taken, SubjectError> {
        take(self.path(), &self.at(".actum"), &SubjectName::parse(name).unwrap())
    }

    fn take(&self, name: &str) -> Taken {
        self.try_take(name).unwrap()
    }

    fn paths(&self, name: &str) -> Vec<String> {
        paths(&self.take(name))
    }

    /// What a person is told about `edit`.
    fn told(&self, name: &str, edit: impl FnOnce(&Self)) -> Vec<String> {
        let before = self.take(name);
        edit(self);
        let after = self.take(name);
        let told: Vec<_> =
            before.manifest.changes(&after.manifest).iter().map(ToString::to_string).collect();
        assert_eq!(told.is_empty(), before.digest == after.digest);
        told
    }
}

fn paths(taken: &Taken) -> Vec<String> {
    taken.manifest.lines().iter().map(|line| line.path.to_string()).collect()
}

fn git_in(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(["-c", "protocol.file.allow=always", "-c", "core.fsmonitor=false"])
        .args(arguments)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {told}");
    output.stdout
}

/// The error and its causes, as a person would read them, with the project's folder as `PROJECT`.
fn refusal(project: &Project, name: &str) -> String {
    let error = project.try_take(name).unwrap_err().to_string();
    let folder = project.path().canonicalize().unwrap();
    error.replace(folder.to_str().unwrap(), "PROJECT")
}

fn make(tool: &str, arguments: &[&OsStr]) {
    assert!(Command::new(tool).args(arguments).status().unwrap().success(), "{tool}");
}

fn make_fifo(path: &Path) {
    make("mkfifo", &[path.as_os_str()]);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

// What is counted.

#[test]
fn git_lists_tracked_and_untracked_but_not_ignored_files() {
    let project = Project::committed();
    project.write(".gitignore", "target/\n*.log\n");
    project.write("new.rs", "");
    project.write("a.log", "");
    project.write("target/debug/x", "");
    project.write(".hidden/file", "");
    project.write(".ignore", "new.rs\n");
    project.write(".rgignore", "new.rs\n");
    project.write(".actum/ledger/0.seg", "");
    let expect =
        [".gitignore", ".hidden/file", ".ignore", ".rgignore", "new.rs", "run.sh", "src/lib.rs"];
    assert_eq!(project.paths("HEAD"), expect);
}

#[test]
fn git_names_commit_and_tree() {
    let project = Project::committed();
    let head = project.take("HEAD").manifest.head().unwrap();
    let told = String::from_utf8(project.git(&["rev-parse", "HEAD", "HEAD^{tree}"])).unwrap();
    assert_eq!(told, format!("{}\n{}\n", head.commit, head.tree));
}

#[test]
fn the_list_of_paths_is_the_one_of_git_itself() {
    let project = Project::repository();
    let files = [
        "a.log",
        "keep.log",
        "src/a.log",
        "src/keep.log",
        "src/x.o",
        "src/deep/x.o",
        "src/deep/y.c",
        "build/out",
        "build/keep/out",
        "docs/build",
        "docs/a b.txt",
        "docs/ lead",
        "docs/trail ",
        "é/ü.txt",
        "日本/語.md",
        "日本/x.tmp",
        "foo{a,b}",
        "fooa",
        "!bang",
        "#hash",
        "a[1].txt",
        "back\\slash",
        "logs/a/b/c",
        "logs/a/d",
        "vendor/m/target/x",
        "vendor/m/lib.rs",
        "x/y/z/w",
        "only/this/one",
        "only/that/one",
        "q?.txt",
        "tab\tname",
        "new\nline",
        "abc.txt",
        "abd.txt",
        "t/anchored",
        "t/sub/anchored",
        "crlf.bak",
        "star/a/end",
        "star/a/b/end",
        "space ",
        "neg/dir/file",
        "neg/dir/kept",
        "deep/one/two/three/four",
        "weird/.git-not/x",
        ".env",
        "only/.gitkeep",
        "tracked-dir/ignored-but-tracked.tmp",
        "tracked-dir/plain.tmp",
    ];
    for file in files {
        project.write(file, file);
    }
    let bytes_name = project.path().join(OsStr::from_bytes(b"caf\xe9.dat"));
    fs::write(&bytes_name, "latin").unwrap();
    fs::write(project.path().join(OsStr::from_bytes(b"caf\xe9.skip")), "latin").unwrap();
    let rules: [(&str, &[u8]); 9] = [
        (
            ".gitignore",
            b"\xef\xbb\xbf*.log\n!keep.log\n/build/\n!/build/keep/\nfoo{a,b}\n\\!bang\n\\#hash\n# a comment\n\
              a\\[1].txt\nlogs/**/c\nq\\?.txt\n*.bak\r\nstar/**/end\nspace\\ \n.env   \n\n   \n*.tmp\ncaf\xe9.skip\n",
        ),
        ("src/.gitignore", b"*.o\n!deep/x.o\nkeep.log\n"),
        ("src/deep/.gitignore", b"!*.o\n*.c\n"),
        ("docs/.gitignore", b"trail \nbuild/\n"),
        ("vendor/.gitignore", b"**/target\n"),
        ("only/.gitignore", b"*\n!this/\n!this/**\n!.gitkeep\n"),
        ("t/.gitignore", b"/anchored\nab[a-c].txt\n"),
        ("neg/.gitignore", b"dir/*\n!dir/kept\n"),
        ("x/.gitignore", b"y/z/\n[!a-z]\n"),
    ];
    for (path, text) in rules {
        project.write(path, text);
    }
    set_mode(&project.at("abc.txt"), 0o755);
    symlink("src", project.at("link-to-folder")).unwrap();
    symlink("nowhere", project.at("dangling.log")).unwrap();
    symlink("nowhere", project.at("dangling")).unwrap();
    project.git(&["add", "-A"]);
    project.git(&["add", "-f", "tracked-dir/ignored-but-tracked.tmp", "build/out", "a.log"]);
    project.git(&["commit", "-q", "-m", "one"]);
    project.git(&["rm", "-q", "--cached", "build/out", "fooa"]);
    project.git(&["add", "-f", "src/x.o"]);
    fs::remove_file(project.at("abd.txt")).unwrap();
    project.write("untracked/new.rs", "");
    project.write("untracked/new.log", "");

    let (mut found, mut expect) = (listed(&project), listed_by_git(&project));
    assert!(found.len() > 30, "the tree exercises the rules");
    // The one difference: rules that ignore themselves are counted.
    assert!(found.remove("only/.gitignore") && !expect.remove("only/.gitignore"));
    assert_eq!(found, expect);
}

/// The list of paths as we have it, escaped.
fn listed(project: &Project) -> BTreeSet<String> {
    let taken = project.take("HEAD");
    let lines = taken.manifest.lines().iter();
    lines.map(|line| line.path.as_bytes().escape_ascii().to_string()).collect()
}

/// The list of paths as git has it: index, not ignored files and HEAD's tree, as far as they exist.
fn listed_by_git(project: &Project) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for arguments in [
        &["ls-files", "-z", "-c", "-o", "--exclude-standard"][..],
        &["ls-tree", "-z", "-r", "--name-only", "HEAD"][..],
    ] {
        let told = project.git(arguments);
        paths.extend(told.split(|&b| b == 0).filter(|p| !p.is_empty()).map(<[u8]>::to_vec));
    }
    let exists =
        |path: &[u8]| fs::symlink_metadata(project.path().join(OsStr::from_bytes(path))).is_ok();
    let existing = paths.iter().filter(|path| exists(path));
    existing.map(|path| path.escape_ascii().to_string()).collect()
}

#[test]
fn git_counts_the_whole_work_tree_from_a_subfolder() {
    let project = Project::committed();
    let name = SubjectName::parse("HEAD").unwrap();
    let inner = take(&project.at("src"), &project.at("src/.actum"), &name).unwrap();
    assert_eq!(inner.digest, project.take("HEAD").digest);
}

#[test]
fn git_works_before_the_first_commit() {
    let project = Project::repository();
    assert_eq!(project.paths("HEAD"), Vec::<String>::new());
    let told = project.told("HEAD", |project| {
        project.write("a", "");
        project.commit("one");
    });
    assert!(told[0].starts_with("the commit changed from none to "), "{told:?}");
    assert!(told[1].starts_with("the tree of the commit changed from none to "), "{told:?}");
    assert_eq!(told[2], "a is new");
}

#[test]
fn git_works_in_a_linked_work_tree_with_a_detached_head_and_packed_refs() {
    let project = Project::committed();
    let linked = Project::empty();
    let place = linked.at("tree");
    project.git(&["pack-refs", "--all"]);
    project.git(&["gc", "-q"]);
    let packed = project.take("HEAD");
    project.git(&["worktree", "add", "-q", "-b", "side", place.to_str().unwrap()]);
    let name = SubjectName::parse("HEAD").unwrap();
    let there = |expect: &Taken| {
        let taken = take(&place, &place.join(".actum"), &name).unwrap();
        assert_eq!(taken.digest, expect.digest);
    };
    there(&packed);
    git_in(&place, &["checkout", "-q", "--detach"]);
    there(&packed);
    git_in(&place, &["commit", "-q", "--allow-empty", "-m", "two"]);
    let moved = take(&place, &place.join(".actum"), &name).unwrap();
    let changes = packed.manifest.changes(&moved.manifest);
    assert_eq!(changes.len(), 1, "the tree is the same: {changes:?}");
    assert_eq!(project.take("HEAD").digest, packed.digest);
}

#[test]
fn submodules_and_nested_repositories_are_walked_like_folders() {
    let inner = Project::committed();
    let project = Project::committed();
    project.git(&["submodule", "--quiet", "add", inner.path().to_str().unwrap(), "sub"]);
    project.commit("sub");
    git_in(project.path(), &["init", "-q", "nested"]);
    project.write("nested/file", "");
    let expect =
        [".gitmodules", "nested/file", "run.sh", "src/lib.rs", "sub/run.sh", "sub/src/lib.rs"];
    assert_eq!(project.paths("HEAD"), expect);
    // An ignore rule cannot hide a submodule that git knows.
    let told = project.told("HEAD", |project| project.write(".gitignore", "/sub/\n"));
    assert_eq!(told, [".gitignore is new"]);
    let told = project.told("HEAD", |project| project.write("sub/src/lib.rs", "edited"));
    assert_eq!(told, ["sub/src/lib.rs changed"]);
    // The submodule is a repository of its own, too: its `.git` is a file.
    let name = SubjectName::parse("HEAD").unwrap();
    let sub = take(&project.at("sub"), &project.at("sub/.actum"), &name).unwrap();
    assert_eq!(paths(&sub), ["run.sh", "src/lib.rs"]);
}

#[test]
fn a_split_index_is_read_and_a_sparse_index_is_refused() {
    let project = Project::committed();
    project.write(".gitignore", "*.tmp\n");
    project.write("dir/x.tmp", "");
    project.git(&["update-index", "--split-index"]);
    project.git(&["add", "-f", "dir/x.tmp"]);
    assert!(project.paths("HEAD").contains(&"dir/x.tmp".to_owned()));
    project.git(&["update-index", "--no-split-index"]);
    project.commit("two");
    project.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    insta::assert_snapshot!(
        refusal(&project, "HEAD"),
        @"PROJECT has a sparse index, which leaves out paths; run `git sparse-checkout reapply --no-sparse-index`"
    );
    project.git(&["sparse-checkout", "reapply", "--no-sparse-index"]);
    assert_eq!(project.paths("HEAD"), [".gitignore", "run.sh", "src/lib.rs"]);
}

#[test]
fn a_special_file_is_recorded_and_never_opened() {
    let project = Project::committed();
    make_fifo(&project.at("pipe"));
    fs::create_dir(project.at("rules")).unwrap();
    make_fifo(&project.at("rules/.gitignore"));
    let socket = std::os::unix::net::UnixListener::bind(project.at("socket")).unwrap();
    for name in ["HEAD", "dir:."] {
        let taken = project.take(name);
        let found = |path: &str| {
            let line = taken.manifest.lines().iter().find(|line| line.path.to_string() == path);
            line.unwrap().found
        };
        assert_eq!(found("pipe"), Found::Fifo);
        assert_eq!(found("rules/.gitignore"), Found::Fifo);
        assert_eq!(found("socket"), Found::Socket);
    }
    drop(socket);
    let told = project.told("HEAD", |project| {
        fs::remove_file(project.at("pipe")).unwrap();
        project.write("pipe", "");
    });
    assert_eq!(told, ["pipe was a named pipe and is a plain file"]);
    assert_eq!(refusal(&project, "file:socket"), "file:socket is not a regular file");
}

#[test]
fn a_tracked_device_or_pipe_behind_an_ignore_rule_is_not_opened_either() {
    let project = Project::committed();
    project.write(".gitignore", "run.sh\n");
    fs::remove_file(project.at("run.sh")).unwrap();
    make_fifo(&project.at("run.sh"));
    let told = project.told("HEAD", |project| {
        fs::remove_file(project.at("run.sh")).unwrap();
    });
    assert_eq!(told, ["run.sh is gone"]);
}

#[test]
fn a_link_is_its_text_and_never_what_it_points_to() {
    let project = Project::committed();
    let outside = Project::empty();
    outside.write("secret", "1");
    symlink(outside.path(), project.at("folder")).unwrap();
    symlink(outside.at("secret"), project.at("file")).unwrap();
    assert_eq!(project.paths("HEAD"), ["file", "folder", "run.sh", "src/lib.rs"]);
    assert!(project.told("HEAD", |_| outside.write("secret", "2")).is_empty());
    let told = project.told("HEAD", |project| {
        fs::remove_file(project.at("file")).unwrap();
        symlink("elsewhere", project.at("file")).unwrap();
    });
    assert_eq!(told, ["file changed"]);
}

#[test]
fn a_tracked_path_behind_a_link_is_not_read_through_it() {
    let project = Project::committed();
    let outside = Project::empty();
    outside.write("lib.rs", "fn one() {}\n");
    fs::remove_dir_all(project.at("src")).unwrap();
    symlink(outside.path(), project.at("src")).unwrap();
    assert_eq!(project.paths("HEAD"), ["run.sh", "src"]);
}

#[test]
fn names_that_are_not_utf8_are_counted_and_shown_escaped() {
    let project = Project::committed();
    for name in ["HEAD", "dir:."] {
        let told = project.told(name, |project| {
            let path = OsStr::from_bytes(b"caf\xe9\n\\ \xe2\x80\xae.txt").to_owned();
            let path = project.path().join(path);
            if fs::remove_file(&path).is_err() {
                fs::write(&path, "").unwrap();
            }
        });
        let verb = if name == "HEAD" { "new" } else { "gone" };
        assert_eq!(told, [format!(r"caf\xe9\n\\ \u{{202e}}.txt is {verb}")]);
    }
}

#[test]
fn an_unreadable_file_is_an_error_that_names_it() {
    if is_super_user() {
        return;
    }
    let project = Project::committed();
    set_mode(&project.at("run.sh"), 0o000);
    assert_eq!(refusal(&project, "HEAD"), "PROJECT/run.sh cannot be read");
    assert_eq!(refusal(&project, "file:run.sh"), "PROJECT/run.sh cannot be read");
    set_mode(&project.at("run.sh"), 0o644);
    set_mode(&project.at("src"), 0o000);
    assert_eq!(refusal(&project, "dir:."), "PROJECT/src cannot be read");
    set_mode(&project.at("src"), 0o755);
}

/// The super-user reads everything, so nothing is unreadable.
fn is_super_user() -> bool {
    let probe = Project::empty();
    probe.write("probe", "");
    set_mode(&probe.at("probe"), 0o000);
    fs::read(probe.at("probe")).is_ok()
}

#[test]
fn file_is_one_file_inside_the_project() {
    let project = Project::empty();
    project.write("a.txt", "one");
    let taken = project.take("file:a.txt");
    let line = &taken.manifest.lines()[0];
    assert_eq!(
        (line.path.to_string().as_str(), line.found),
        ("a.txt", Found::File(Digest::plain(b"one")))
    );
    let told = project.told("file:a.txt", |project| project.write("a.txt", "two"));
    assert_eq!(told, ["a.txt changed"]);
    let told = project.told("file:a.txt", |project| set_mode(&project.at("a.txt"), 0o755));
    assert_eq!(told, ["a.txt was a plain file and is an executable file"]);

    let outside = Project::empty();
    outside.write("secret", "");
    symlink(outside.path(), project.at("out")).unwrap();
    symlink("a.txt", project.at("in")).unwrap();
    project.write(".actum/key", "");
    assert_eq!(project.paths("file:in"), ["in"]);
    assert!(matches!(project.try_take("file:out/secret"), Err(SubjectError::Outside { .. })));
    assert!(matches!(project.try_take("dir:out"), Err(SubjectError::Outside { .. })));
    assert!(matches!(project.try_take("file:.actum/key"), Err(SubjectError::InStore { .. })));
    assert!(matches!(project.try_take("dir:.actum"), Err(SubjectError::InStore { .. })));
    assert_eq!(refusal(&project, "file:none"), "file:none does not exist in PROJECT");
    assert_eq!(refusal(&project, "file:a.txt/b"), "file:a.txt/b does not exist in PROJECT");
    assert_eq!(refusal(&project, "file:."), "file:. is not a regular file");
    assert_eq!(refusal(&project, "dir:a.txt"), "dir:a.txt is not a folder");
}

#[test]
fn dir_ignores_nothing_but_git_and_the_store() {
    let project = Project::committed();
    project.write(".gitignore", "*.log\n");
    project.write("src/a.log", "");
    project.write(".actum/x", "");
    project.write("src/nested/.git/config", "");
    assert_eq!(project.paths("dir:."), [".gitignore", "run.sh", "src/a.log", "src/lib.rs"]);
    assert_eq!(project.paths("dir:src"), ["a.log", "lib.rs"]);
}

#[test]
fn text_is_its_digest() {
    let project = Project::empty();
    let one = project.take("text:X01");
    assert_ne!(one.digest, project.take("text:X02").digest);
    let changes = one.manifest.changes(&project.take("text:X02").manifest);
    assert_eq!(changes[0].to_string(), "the text changed");
}

#[test]
fn the_same_content_as_another_kind_is_another_subject() {
    let project = Project::empty();
    project.write("a", "a");
    assert_ne!(project.take("file:a").digest, project.take("dir:.").digest);
    assert_ne!(project.take("text:a").digest, project.take("file:a").digest);
}

#[test]
fn a_place_without_a_work_tree_is_refused_with_what_to_do() {
    let project = Project::empty();
    insta::assert_snapshot!(
        refusal(&project, "HEAD"),
        @"PROJECT is in no git repository; run `git init`, or use file:PATH or dir:PATH as the subject"
    );
    let bare = Project::empty();
    bare.git(&["init", "-q", "--bare"]);
    insta::assert_snapshot!(
        refusal(&bare, "HEAD"),
        @"PROJECT is a bare repository, without files to digest; run this in a clone or in `git worktree add`"
    );
    let lost = Project::empty();
    lost.write(".git", "gitdir: /nowhere\n");
    insta::assert_snapshot!(
        refusal(&lost, "HEAD"),
        @"PROJECT/.git names a repository that is not there; run `git worktree repair`"
    );
    let damaged = Project::committed();
    damaged.write(".git/index", "DIRC");
    insta::assert_snapshot!(
        refusal(&damaged, "HEAD"),
        @"the index cannot be read in the repository PROJECT; `git fsck` says more"
    );
    let store_around = take(bare.path(), bare.path(), &SubjectName::parse("dir:.").unwrap());
    assert!(matches!(store_around, Err(SubjectError::InStore { .. })), "{store_around:?}");
}

#[test]
fn a_file_that_never_stops_changing_is_an_error() {
    let project = Project::empty();
    project.write("grows", vec![0; 64 << 20]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let started = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::io::Write as _;
            let mut file = fs::OpenOptions::new().append(true).open(project.at("grows")).unwrap();
            file.write_all(b"x").unwrap();
            started.wait();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                file.write_all(b"x").unwrap();
            }
        });
        started.wait();
        let result = project.try_take("file:grows");
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(result, Err(SubjectError::Changed { .. })), "{result:?}");
    });
    assert!(project.try_take("file:grows").is_ok());
}

// Attacks: what must not hide a change, and what must not run.

#[test]
fn index_flags_hide_no_edit() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let project = Project::committed();
        project.git(&["update-index", flag, "src/lib.rs"]);
        let told = project.told("HEAD", |project| project.write("src/lib.rs", "evil"));
        assert_eq!(told, ["src/lib.rs changed"], "{flag}");
    }
}

#[test]
fn excludes_outside_the_tree_hide_nothing() {
    let project = Project::committed();
    project.write(".git/info/exclude", "evil.rs\n");
    project.write(".git/excludes", "evil.rs\n");
    let excludes = project.at(".git/excludes");
    project.git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
    let told = project.told("HEAD", |project| project.write("evil.rs", ""));
    assert_eq!(told, ["evil.rs is new"]);
}

#[test]
fn a_gitignore_that_is_a_link_hides_nothing() {
    let project = Project::committed();
    let outside = Project::empty();
    outside.write("rules", "evil.rs\n");
    symlink(outside.at("rules"), project.at(".gitignore")).unwrap();
    let told = project.told("HEAD", |project| project.write("evil.rs", ""));
    assert_eq!(told, ["evil.rs is new"]);
}

#[test]
fn rules_that_ignore_themselves_are_counted() {
    let project = Project::committed();
    let told = project.told("HEAD", |project| {
        project.write(".cargo/.gitignore", "*\n");
        project.write(".cargo/config.toml", "[build]\nrustc = \"evil\"\n");
    });
    assert_eq!(told, [".cargo/.gitignore is new"]);
}

#[test]
fn removing_from_the_index_and_ignoring_hides_no_edit() {
    let project = Project::committed();
    project.git(&["rm", "-q", "--cached", "src/lib.rs"]);
    project.write(".gitignore", "src/\n");
    let told = project.told("HEAD", |project| project.write("src/lib.rs", "evil"));
    assert_eq!(told, ["src/lib.rs changed"]);
}

#[test]
fn a_replaced_commit_hides_no_edit() {
    let project = Project::committed();
    project.write(".gitignore", "src/\n");
    let before = project.take("HEAD");
    let empty = String::from_utf8(project.git(&["commit-tree", "-m", "x", EMPTY_TREE])).unwrap();
    project.git(&["rm", "-q", "--cached", "src/lib.rs"]);
    project.git(&["replace", "HEAD", empty.trim()]);
    assert_eq!(project.take("HEAD").digest, before.digest);
    let told = project.told("HEAD", |project| project.write("src/lib.rs", "evil"));
    assert_eq!(told, ["src/lib.rs changed"]);
}

const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

#[test]
fn a_forged_tree_object_is_refused() {
    let project = Project::committed();
    let told = String::from_utf8(project.git(&["rev-parse", "HEAD^{tree}"])).unwrap();
    project.git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let loose = |id: &str| {
        let (folder, file) = id.split_at(2);
        project.at(&format!(".git/objects/{folder}/{file}"))
    };
    let (forged, genuine) = (loose(EMPTY_TREE), loose(told.trim()));
    fs::remove_file(&genuine).unwrap();
    fs::copy(forged, genuine).unwrap();
    insta::assert_snapshot!(
        refusal(&project, "HEAD"),
        @"an object of HEAD cannot be read in the repository PROJECT; `git fsck` says more"
    );
}

#[test]
fn a_work_tree_named_in_the_configuration_is_not_counted_instead() {
    let project = Project::committed();
    let decoy = Project::empty();
    let before = project.take("HEAD");
    project.git(&["config", "core.worktree", decoy.path().to_str().unwrap()]);
    assert_eq!(project.take("HEAD").digest, before.digest);
}

#[test]
fn no_program_of_the_configuration_runs() {
    let project = Project::committed();
    let marker = project.at(".git/ran");
    let script = project.at(".git/script.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display())).unwrap();
    set_mode(&script, 0o755);
    let script = script.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.x.textconv",
        "core.pager",
        "core.hooksPath",
        "alias.status",
        "credential.helper",
        "core.sshCommand",
        "core.editor",
        "core.alternateRefsCommand",
    ] {
        project.git(&["config", key, script]);
    }
    fs::copy(script, project.at(".git/hooks/post-index-change")).unwrap();
    project.write(".gitattributes", "* filter=x diff=x\n");
    let told = project.told("HEAD", |project| project.write("src/lib.rs", "edited"));
    assert_eq!(told, ["src/lib.rs changed"]);
    assert!(!marker.exists(), "nothing of the configuration may run");
    project.git(&["add", "src/lib.rs"]);
    assert!(marker.exists(), "git itself would have run it");
}

/// Runs this test binary again with another environment, so that this process keeps its own.
#[test]
fn the_environment_changes_nothing() {
    const FOLDER: &str = "ACTUM_TEST_SUBJECT_FOLDER";
    const EXPECT: &str = "ACTUM_TEST_SUBJECT_DIGEST";
    let name = SubjectName::parse("HEAD").unwrap();
    if let Some(folder) = std::env::var_os(FOLDER) {
        let folder = PathBuf::from(folder);
        let taken = take(&folder, &folder.join(".actum"), &name).unwrap();
        assert_eq!(taken.digest.to_string(), std::env::var(EXPECT).unwrap());
        return;
    }
    let project = Project::committed();
    project.write("untracked.rs", "");
    let decoy = Project::committed();
    decoy.write("config", "[core]\n\texcludesFile = excludes\n");
    decoy.write("git/ignore", "*\n");
    let expect = project.take("HEAD").digest.to_string();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "subject::the_environment_changes_nothing", "--nocapture"])
        .current_dir(decoy.path())
        .env(FOLDER, project.path())
        .env(EXPECT, expect)
        .env("GIT_DIR", decoy.at(".git"))
        .env("GIT_COMMON_DIR", decoy.at(".git"))
        .env("GIT_INDEX_FILE", decoy.at(".git/index"))
        .env("GIT_WORK_TREE", decoy.path())
        .env("GIT_OBJECT_DIRECTORY", decoy.at(".git/objects"))
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", decoy.at(".git/objects"))
        .env("GIT_NAMESPACE", "evil")
        .env("GIT_CONFIG_GLOBAL", decoy.at("config"))
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.worktree")
        .env("GIT_CONFIG_VALUE_0", decoy.path())
        .env("GIT_CEILING_DIRECTORIES", "/")
        .env("XDG_CONFIG_HOME", decoy.path())
        .env("HOME", decoy.path())
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn an_executable_bit_changes_the_digest() {
    let project = Project::committed();
    let told = project.told("HEAD", |project| set_mode(&project.at("run.sh"), 0o755));
    assert_eq!(told, ["run.sh was a plain file and is an executable file"]);
}

#[test]
fn a_commit_of_the_same_files_is_named() {
    let project = Project::committed();
    let before = project.take("HEAD").manifest.head().unwrap();
    let told = project.told("HEAD", |project| project.commit("two"));
    let after = project.take("HEAD").manifest.head().unwrap();
    let (from, to) = (before.commit.short(), after.commit.short());
    assert_eq!(told, [format!("the commit changed from {from} to {to}")]);
}

#[test]
fn an_edit_of_the_same_size_with_its_time_set_back_is_seen() {
    let project = Project::committed();
    let told = project.told("HEAD", |project| {
        let path = project.at("src/lib.rs");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        project.write("src/lib.rs", "fn two() {}\n");
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
    });
    assert_eq!(told, ["src/lib.rs changed"]);
}

// The bytes of a manifest.

#[test]
fn the_bytes_are_those_of_the_format_page() {
    let text = Project::empty().take("text:x").manifest.to_bytes();
    let digest = Digest::plain(b"x");
    let mut expect = b"ACTUMSJ1\x04\x00\x00\x00\x01\x00\x00\x08".to_vec();
    expect.extend_from_slice(digest.as_bytes());
    assert_eq!(text, expect);

    let head = Head { commit: GitId([1; 20]), tree: GitId([2; 20]) };
    let line = Line { path: TreePath::new(b"a/b").unwrap(), found: Found::Fifo };
    let manifest = Manifest::new(SubjectKind::Git, Some(head), vec![line]).unwrap();
    let expect =
        [b"ACTUMSJ1\x01\x01".as_slice(), &[1; 20], &[2; 20], b"\x00\x00\x00\x01\x00\x03a/b\x04"];
    assert_eq!(manifest.to_bytes(), expect.concat());
}

#[test]
fn what_is_no_manifest_is_refused() {
    let refused =
        |tail: &[u8]| Manifest::from_bytes(&[b"ACTUMSJ1", tail].concat()).unwrap_err().to_string();
    let told = [
        Manifest::from_bytes(b"ACTUMSJ2\x03\0\0\0\0").unwrap_err().to_string(),
        refused(b""),
        refused(b"\x09"),
        refused(b"\x01\x02"),
        refused(b"\x03\xff\xff\xff\xff"),
        refused(b"\x03\0\x0f\x42\x40"),
        refused(b"\x03\0\0\0\0!"),
        refused(b"\x03\0\0\0\x02\0\x01b\x04\0\x01a\x04"),
        refused(b"\x03\0\0\0\x02\0\x01a\x04\0\x01a\x04"),
        refused(b"\x03\0\0\0\x01\0\x01a\x09"),
        refused(b"\x03\0\0\0\x01\0\x04../a\x04"),
        refused(b"\x03\0\0\0\x01\0\0\x04"),
        refused(b"\x02\0\0\0\0"),
        refused(b"\x04\0\0\0\0"),
    ];
    insta::assert_snapshot!(told.join("\n"), @r"
    the bytes do not begin with `ACTUMSJ1`, so they are no manifest of version 1
    the manifest ends in the middle of the kind
    the manifest holds 9 as kind, which version 1 does not know
    the manifest holds 2 as head, which version 1 does not know
    the manifest has 4294967295 lines; the limit is 1000000
    the manifest ends in the middle of a path
    1 bytes follow the last line of the manifest
    line 1 of the manifest does not come after the line before it
    line 1 of the manifest does not come after the line before it
    the manifest holds 9 as what lies at a path, which version 1 does not know
    line 0 of the manifest has a path that is none, or one of more than 4096 bytes
    line 0 of the manifest has a path that is none, or one of more than 4096 bytes
    a manifest of kind file cannot hold anything but one regular file
    a manifest of kind text cannot hold anything but one text
    ");
}

#[test]
fn a_head_or_a_text_belongs_to_its_kind() {
    let head = Head { commit: GitId([1; 20]), tree: GitId([2; 20]) };
    let shape = |kind, head, lines| {
        matches!(Manifest::new(kind, head, lines), Err(ManifestError::Shape { .. }))
    };
    let text = Found::Text(Digest::plain(b""));
    let line = |found| vec![Line { path: TreePath::new(b"a").unwrap(), found }];
    assert!(shape(SubjectKind::Dir, Some(head), vec![]));
    assert!(shape(SubjectKind::Dir, None, line(text)));
    assert!(shape(SubjectKind::Text, None, line(text)));
    assert!(shape(SubjectKind::File, None, line(Found::Fifo)));
}

fn any_found() -> impl Strategy<Value = Found> {
    let digest = any::<u8>().prop_map(|byte| Digest::plain(&[byte]));
    prop_oneof![
        digest.clone().prop_map(Found::File),
        digest.clone().prop_map(Found::Executable),
        digest.prop_map(Found::Link),
        Just(Found::Fifo),
        Just(Found::Socket),
        Just(Found::BlockDevice),
        Just(Found::CharacterDevice),
    ]
}

/// Few names and few values, so that two manifests are often close to each other.
fn any_manifest() -> impl Strategy<Value = Manifest> {
    let path = prop_oneof!["[ab](/[ab]){0,2}".prop_map(String::into_bytes), Just(b"\xff".to_vec())];
    let lines = prop::collection::btree_map(path, any_found(), 0..5);
    let head = prop::option::of((0..3_u8, 0..3_u8));
    (prop::bool::ANY, head, lines).prop_map(|(is_git, head, lines)| {
        let kind = if is_git { SubjectKind::Git } else { SubjectKind::Dir };
        let id = |byte| GitId([byte; 20]);
        let head = head.map(|(commit, tree)| Head { commit: id(commit), tree: id(tree) });
        let lines = lines
            .into_iter()
            .map(|(path, found)| Line { path: TreePath::new(&path).unwrap(), found });
        Manifest::new(kind, head.filter(|_| is_git), lines.collect()).unwrap()
    })
}

/// Patterns over few characters, so that they often match.
fn any_rules() -> impl Strategy<Value = String> {
    let pattern = prop_oneof![
        r"!?/?[ab*?]{1,3}(/[ab*]{1,2}){0,2}/?",
        r"!?(\*\*/)?[ab?*]{1,2}(/\*\*)?",
        r"[ab*?!#/\[\]\\ -]{1,6}",
    ];
    prop::collection::vec(pattern, 1..5).prop_map(|lines| lines.join("\n") + "\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_rules_ignore_what_they_ignore_for_git(outer in any_rules(), inner in any_rules()) {
        let project = Project::committed();
        for folder in ["", "a/", "a/b/", "b/a/", "a/b/a/", "ba/"] {
            for name in ["x", "ab", "aa", "bb", "b ", "#b", "!a", "a-b", "[a]", "a\\b"] {
                project.write(&format!("{folder}{name}"), "");
            }
        }
        project.write(".gitignore", &outer);
        project.write("a/.gitignore", &inner);
        let mut expect = listed_by_git(&project);
        let found = listed(&project);
        // The one difference: rules that ignore themselves are counted.
        let is_rules = |path: &&String| path.ends_with(".gitignore");
        expect.extend(found.iter().filter(is_rules).cloned());
        prop_assert_eq!(found, expect);
    }
}

proptest! {
    #[test]
    fn a_manifest_survives_its_bytes(manifest in any_manifest()) {
        prop_assert_eq!(Manifest::from_bytes(&manifest.to_bytes()), Ok(manifest));
    }

    #[test]
    fn different_manifests_have_different_bytes(one in any_manifest(), other in any_manifest()) {
        prop_assert_eq!(one == other, one.to_bytes() == other.to_bytes());
        prop_assert_eq!(one == other, one.digest() == other.digest());
    }

    #[test]
    fn changes_are_empty_only_between_equals(one in any_manifest(), other in any_manifest()) {
        prop_assert!(one.changes(&one).is_empty());
        prop_assert_eq!(one == other, one.changes(&other).is_empty());
        prop_assert_eq!(one.changes(&other).len(), other.changes(&one).len());
    }

    #[test]
    fn accepted_bytes_encode_to_themselves(
        manifest in any_manifest(),
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        let mut bytes = manifest.to_bytes();
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(read) = Manifest::from_bytes(&bytes) {
            prop_assert_eq!(read.to_bytes(), bytes);
        }
        prop_assert!(Manifest::from_bytes(&manifest.to_bytes()[..at]).is_err());
    }
}
