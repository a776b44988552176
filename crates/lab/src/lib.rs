//! Measures: scenarios, attacks, baselines, agents, scores and the report. Reproduces the evaluations of the two documents this
//! project starts from, and what they leave out. The insecure baselines live here and nowhere else.
