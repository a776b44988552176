//! What lies on disk: journal, keys, anchors and subjects. Asks no question of policy.

pub mod subject;
