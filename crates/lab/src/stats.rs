//! The few figures that a report needs: shares with their Wilson interval, medians.
#![expect(
    clippy::float_arithmetic,
    reason = "figures of a report; nothing here is hashed or decided on"
)]

use serde::{Deserialize, Serialize};

/// The 97.5 % quantile of the normal distribution, for intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// So many out of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// So many.
    pub hits: u32,
    /// Out of so many.
    pub of: u32,
}

impl Share {
    /// Counts one more.
    pub fn count(&mut self, is_hit: bool) {
        self.hits += u32::from(is_hit);
        self.of += 1;
    }

    /// Both together.
    pub const fn and(self, other: Self) -> Self {
        Self { hits: self.hits + other.hits, of: self.of + other.of }
    }

    /// In per cent; `None` of nothing.
    pub fn percent(self) -> Option<f64> {
        (self.of > 0).then(|| 100.0 * f64::from(self.hits) / f64::from(self.of))
    }

    /// The 95 % interval after Wilson (1927), in per cent; everything is possible of nothing.
    pub fn interval(self) -> (f64, f64) {
        if self.of == 0 {
            return (0.0, 100.0);
        }
        let n = f64::from(self.of);
        let p = f64::from(self.hits) / n;
        let z2 = Z * Z;
        let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
        // At the ends the bound is the end itself, which rounding would miss.
        let low = if self.hits == 0 { 0.0 } else { 100.0 * (middle - half) };
        let high = if self.hits == self.of { 100.0 } else { 100.0 * (middle + half) };
        (low, high)
    }
}

/// The middle one, or the mean of the two in the middle; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(*upper);
    }
    sorted.get(sorted.len() / 2 - 1).map(|lower| f64::midpoint(*lower, *upper))
}

/// A share in millionths, as it is recorded, as a number.
pub(crate) fn of_millionths(millionths: u32) -> f64 {
    f64::from(millionths) / 1e6
}

/// A number between 0 and 1 in millionths, as it is recorded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and a million"
)]
pub(crate) fn to_millionths(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * 1e6).round() as u32
}

/// The chance of one of two options at a temperature, from their chances at temperature 1.
pub fn at_temperature(of: f64, other: f64, temperature: f64) -> f64 {
    if temperature <= 0.0 {
        return if of > other { 1.0 } else { 0.0 };
    }
    let (of, other) = (of.powf(1.0 / temperature), other.powf(1.0 / temperature));
    if of + other > 0.0 { of / (of + other) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // Agresti and Coull (1998) and Newcombe (1998) print these.
        let near = |(low, high): (f64, f64), (l, h): (f64, f64)| {
            assert!((low - l).abs() < 0.01 && (high - h).abs() < 0.01, "{low} {high}");
        };
        near(Share { hits: 0, of: 20 }.interval(), (0.0, 16.11));
        near(Share { hits: 20, of: 20 }.interval(), (83.89, 100.0));
        near(Share { hits: 81, of: 263 }.interval(), (25.53, 36.62));
        near(Share { hits: 15, of: 148 }.interval(), (6.24, 16.05));
        near(Share::default().interval(), (0.0, 100.0));
    }

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
