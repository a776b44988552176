//! The guard: a relay between an MCP client and an MCP server that asks the gate before each call of a tool. `docs/guard.md` is
//! the page for users.

mod message;
mod own;
mod port;

pub use message::{
    Answered, ClientMeta, Definition, Flaw, ID_MAX, Id, Kind, LISTED_MAX, MEMBERS_MAX, MESSAGE_MAX,
    META_CAPABILITIES, META_CLIENT, META_VERSION, Message, ToolCall, can_show_forms, client_of,
    definitions, texts,
};
pub use own::{Desk, HeldOpen, Opened, Own, Who};
pub use port::{
    Ask, Consent, Held, Observation, Pin, Port, PortError, Receipt, Ruling, Sight, Terms, Traced,
};
