//! The guard: a relay between an MCP client and an MCP server that asks the gate before each call of a tool. `docs/guard.md` is
//! the page for users.

mod gate;
mod message;
mod own;
mod pool;
mod port;
mod relay;
pub mod review;
mod seal;
mod stdio;

pub use gate::{
    BEHIND_BYTES_MAX, BEHIND_MAX, Guard, META_OURS, Note, PAGES_MAX, QUESTION, STATELESS,
    STEPS_PER_CALL_MAX, Settings,
};
pub use message::{
    Answered, ClientMeta, Definition, Flaw, ID_MAX, Id, Kind, LISTED_MAX, MEMBERS_MAX, MESSAGE_MAX,
    META_CAPABILITIES, META_CLIENT, META_VERSION, Message, ToolCall, can_show_forms, client_of,
    definitions, texts,
};
pub use own::{Desk, HeldOpen, Opened, Own, Who};
pub use pool::WORKERS_MAX;
pub use port::{
    Ask, Consent, Held, Listed, Observation, Pin, Port, PortError, Receipt, Ruling, Sight, Terms,
    Traced,
};
pub use relay::{CALL_FOR, Line, PENDING_MAX, Relay, Sink, read_line};
pub use seal::{ASKED_FOR, ASKED_MAX};
pub use stdio::{Ended, GRACE, INTRODUCED_WITHIN, Piped, StdioError, Stop, tools_of};
