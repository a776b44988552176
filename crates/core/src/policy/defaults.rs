//! What channels are worth where the policy does not say. A line of a policy for the same pattern takes the place of one here.

use super::channels::Worth;
use super::channels::Worth::{Inherits, Untrusted, User};

/// Each pattern with its worth and the reason. What no line names is `Untrusted`.
///
/// Only what the user types is the user. Everything else starts at the bottom: what an owner wants higher is a line in the
/// policy with an end. Where the carried thing has a record of its own, the record decides, never the way it came.
pub(super) const DEFAULTS: &[(&str, Worth, &str)] = &[
    ("user", User, "typed by the user, on a door that only the user has"),
    ("paste", Untrusted, "the user marked it as somebody else's words"),
    ("api", Untrusted, "a program sent it; the policy can say that this program is the user"),
    ("system", Untrusted, "the host's own prompt"),
    ("inbound:*", Untrusted, "a message, a webhook or another agent"),
    ("schedule:*", Inherits, "a fired task: the record of the task decides"),
    ("consolidation:*", Inherits, "the host's own summary: what it was made from decides"),
    ("file:*", Inherits, "a file that was read: the record of its content decides"),
    ("file-edit", Untrusted, "changed outside the agent: the owner confirms it once"),
    ("repo:*", Untrusted, "a file under version control, of a repository nobody approved"),
    ("web:*", Untrusted, "anybody can write a web page"),
    ("mail:*", Untrusted, "anybody can send a mail"),
    ("mcp:*", Untrusted, "the result of a server nobody approved"),
    ("exec:*", Untrusted, "the output of a command: nobody saw what it read"),
];
