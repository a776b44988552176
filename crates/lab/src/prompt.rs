//! The one form in which a model is asked: worked examples from elsewhere, then the notes, then a question to be answered yes or no. A
//! small model can read a note and cannot apply a rule, so it is asked what the notes say, and the runtime draws the conclusion.

use crate::agent::{Ask, Role, Turn};
use crate::world::Shown;

/// The place of `yes` among the options.
pub const YES: usize = 1;

/// A question, notes that answer it or not, and the answer.
pub(crate) type Example = (&'static str, &'static [&'static str], &'static str);

/// What stays the same from one question to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// The rules of the conversation.
    pub(crate) system: &'static str,
    /// What stands before the notes.
    pub(crate) head: &'static str,
    /// What stands before the question.
    pub(crate) by: &'static str,
    /// Worked examples, which teach the question and the spelling of its answer.
    pub(crate) examples: &'static [Example],
}

impl Form {
    fn asked(&self, notes: &[String], question: &str) -> String {
        let Self { head, by, .. } = self;
        let notes: Vec<String> = notes.iter().map(|note| format!("- {note}")).collect();
        let notes = notes.join("\n");
        format!("{head}:\n{notes}\n\nQuestion: {by}, {question}? Answer yes or no.")
    }

    /// The question about these entries. `claimed`: whether whoever believes them says yes.
    pub(crate) fn ask(&self, question: &str, shown: &[Shown], claimed: bool) -> Ask {
        let mut turns = vec![Turn::new(Role::System, self.system)];
        for (question, notes, answer) in self.examples {
            let notes: Vec<String> = notes.iter().map(|note| (*note).to_owned()).collect();
            turns.push(Turn::new(Role::User, self.asked(&notes, question)));
            turns.push(Turn::new(Role::Assistant, *answer));
        }
        let notes: Vec<String> = shown.iter().map(Shown::text).collect();
        turns.push(Turn::new(Role::User, self.asked(&notes, question)));
        let options = vec!["no".to_owned(), "yes".to_owned()];
        Ask { turns, options, believes: usize::from(claimed) * YES, doubts: 0 }
    }
}
