//! What a mandate that draws on another may allow, and what is left of one.

use super::Mandate;
use crate::event::{Granted, Limit, LimitKind};

impl Mandate {
    /// One that draws on this one may only narrow it.
    pub(crate) fn is_narrowed_by(&self, granted: &Granted<'_>) -> bool {
        let same =
            |limit: &Limit<'_>, (argument, kind, values): &(Box<str>, LimitKind, Vec<Box<str>>)| {
                limit.argument == &**argument
                    && limit.kind == *kind
                    && limit.values.len() == values.len()
                    && limit.values.iter().zip(values).all(|(one, other)| *one == &**other)
            };
        let keeps = |ours| granted.limits.iter().any(|limit| same(limit, ours));
        let summed = match (&self.budget_left, &granted.budget) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((ours, _)), Some((theirs, _))) => **ours == **theirs,
        };
        self.revoked.is_none()
            && granted.called == self.called
            && (granted.audience, granted.audience_of) == (self.audience, self.audience_of)
            && granted.from_ms >= self.from_ms
            && granted.until_ms <= self.until_ms
            && summed
            && self.limits.iter().all(keeps)
    }

    /// Whether a use of this amount is left.
    pub(crate) fn covers(&self, amount: u64) -> bool {
        let budget = self.budget_left.as_ref().is_none_or(|(_, left)| amount <= *left);
        self.revoked.is_none() && self.uses_left > 0 && budget
    }

    pub(super) fn spend(&mut self, amount: u64) {
        self.uses_left = self.uses_left.saturating_sub(1);
        if let Some((_, left)) = &mut self.budget_left {
            *left = left.saturating_sub(amount);
        }
    }
}
