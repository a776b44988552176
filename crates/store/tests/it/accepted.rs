//! What may come into force.

use std::path::Path;

use actum_core::StepName;
use actum_store::AcceptedPolicy;

const WHOLE: &str = "version = 1
profile = 'strict'
[steps.t]
commands = [['x']]
[steps.v]
tool = 'check'
subject = 'args.a'
[steps.all]
all_of = ['t']
[tools.'bank/pay']
class = 'effect'
[channels.'mcp:bank']
authority = 'Untrusted'
";

fn prepare(text: &str) -> Result<AcceptedPolicy, String> {
    let nothing = |_: &str| None;
    AcceptedPolicy::prepare(text, Path::new("/nowhere"), &nothing)
        .map_err(|error| error.to_string())
}

#[test]
fn everything_that_can_be_read_comes_into_force() {
    let policy = prepare(WHOLE).unwrap();
    let force = policy.in_force_now();
    assert_eq!(force.policy.steps().count(), 3);
    // A command counts with all that was settled, whoever asks.
    let step = StepName::new("t").unwrap();
    let rule = policy.policy().step(&step).unwrap().command().unwrap();
    assert_eq!(force.commands.get(&step), Some(&policy.rule_digest(rule)));
}

#[test]
fn a_document_is_the_policy_again_or_nothing() {
    let document = |text: &str| {
        let text = text.replace('\n', "\\n");
        let json = format!(
            r#"{{"version": 1, "policy": "{text}", "programs": [], "files": [], "environment": {{}}}}"#
        );
        AcceptedPolicy::from_bytes(json.as_bytes())
    };
    assert_eq!(document(WHOLE).unwrap().digest(), prepare(WHOLE).unwrap().digest());
    assert!(document("version = 1\n[mandates]").unwrap_err().contains("unknown key"));
}
