//! What may come into force.

use std::path::Path;

use actum_store::AcceptedPolicy;

fn prepare(text: &str) -> Result<AcceptedPolicy, String> {
    let nothing = |_: &str| None;
    AcceptedPolicy::prepare(text, Path::new("/nowhere"), &nothing)
        .map_err(|error| error.to_string())
}

const NOT_ENFORCED: [&str; 5] = [
    "version = 1\nprofile = 'strict'",
    "version = 1\n[tools.'bank/pay']\nclass = 'effect'",
    "version = 1\n[channels.'mcp:bank']\nauthority = 'Untrusted'",
    "version = 1\n[steps.t]\ntool = 'check'\nsubject = 'args.a'",
    "version = 1\n[steps.t]\ncommands = [['x']]\n[steps.all]\nall_of = ['t']",
];

#[test]
fn what_nothing_enforces_yet_does_not_come_into_force() {
    for text in NOT_ENFORCED {
        let error = prepare(text).unwrap_err();
        assert!(error.starts_with("actum.toml:"), "{error}");
        let wanted = "is understood but not yet enforced by this version of Actum; take it out";
        assert!(error.ends_with(wanted), "{error}");
    }
    assert!(prepare("version = 1\n[steps.t]\ncommands = [['x']]").is_ok());
}

#[test]
fn what_a_later_version_accepted_and_this_one_does_not_enforce_is_not_used() {
    let document = |text: &str| {
        let text = text.replace('\n', "\\n");
        let json = format!(
            r#"{{"version": 1, "policy": "{text}", "programs": [], "files": [], "environment": {{}}}}"#
        );
        AcceptedPolicy::from_bytes(json.as_bytes())
    };
    for text in NOT_ENFORCED {
        let error = document(text).unwrap_err();
        assert!(error.contains("not yet enforced"), "{error}");
    }
    assert!(document("version = 1\n[steps.t]\ncommands = [['x']]").is_ok());
}
