//! A histogram of nanoseconds: 64 buckets for each power of two, so that a quantile is 1.6 % too large at most.

const BITS: u32 = 6;
const BUCKETS: u64 = 1 << BITS;

#[derive(Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

/// Values below 64 have a bucket each; then come 64 buckets for each further power of two.
fn bucket(value: u64) -> u64 {
    let shift = (64 - value.leading_zeros()).saturating_sub(BITS + 1);
    u64::from(shift) * BUCKETS + (value >> shift)
}

/// The largest value that falls into this bucket.
fn largest(bucket: u64) -> u64 {
    let shift = (bucket / BUCKETS).saturating_sub(1);
    let start = bucket - shift * BUCKETS;
    (start << shift) + ((1 << shift) - 1)
}

impl Histogram {
    pub fn record(&mut self, value: u64) {
        let index = usize::try_from(bucket(value)).expect("there are some 4,000 buckets");
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.total += 1;
    }

    /// The value that so many of 1,000 do not exceed; `None` if there are no values.
    pub fn per_mille(&self, part: u64) -> Option<u64> {
        let wanted = (self.total * part).div_ceil(1000).max(1);
        let mut seen = 0;
        (0..).zip(&self.counts).find_map(|(bucket, count)| {
            seen += count;
            (seen >= wanted).then(|| largest(bucket))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_its_bucket() {
        for value in [0, 1, 63, 64, 65, 127, 128, 129, 1000, 123_456_789, u64::MAX / 2] {
            let bucket = bucket(value);
            assert!(largest(bucket) >= value, "{value}");
            assert!(bucket == 0 || largest(bucket - 1) < value, "{value}");
        }
    }

    #[test]
    fn quantiles_are_at_most_1_6_percent_too_large() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.per_mille(500), None);
        (1..=1000).for_each(|value| histogram.record(value * 1000));
        for part in [1, 500, 990, 1000] {
            let found = histogram.per_mille(part).unwrap();
            assert!(found >= part * 1000 && found <= part * 1016 + 16, "{part}: {found}");
        }
    }
}
