//! The table of counts: its file, and what it is compared with.

use std::error::Error;
use std::fmt::Write as _;

/// What was counted, and with what.
pub(crate) struct Table {
    /// Names and values; counts are comparable where all are the same.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) lines: Vec<Line>,
}

pub(crate) struct Line {
    pub(crate) shape: String,
    pub(crate) arm: String,
    /// Instructions per row.
    pub(crate) count: f64,
}

/// What a prototype of minimal safe code needed per row: borrowed and owned reused, receipt walk included.
const LIMITS: [(&str, f64, f64); 7] = [
    ("customer", 537.0, 769.0),
    ("exact12", 2027.0, 2050.0),
    ("strings8", 667.0, 799.0),
    ("narrow", 232.0, 250.0),
    ("wide10", 1222.0, 1283.0),
    ("single", 96.0, 115.0),
    ("vary8", 651.0, 782.0),
];

/// How far above its limit an arm may be.
const ALLOWED: [(&str, f64); 3] = [
    ("borrowed next", 1.35),
    ("borrowed batch", 1.15),
    ("owned reused", 1.2),
];

impl Line {
    /// The limit of the line, and how far above it the arm may be.
    fn limit(&self) -> Option<(f64, f64)> {
        let (_, allowed) = *ALLOWED.iter().find(|(arm, _)| *arm == self.arm)?;
        let (_, borrowed, owned) = *LIMITS.iter().find(|(shape, ..)| *shape == self.shape)?;
        let limit = if self.arm == "owned reused" {
            owned
        } else {
            borrowed
        };
        Some((limit, allowed))
    }
}

impl Table {
    pub(crate) fn from_file(text: &str) -> Result<Self, Box<dyn Error>> {
        let mut table = Self {
            environment: Vec::new(),
            lines: Vec::new(),
        };
        for line in text.lines() {
            if let Some(named) = line.strip_prefix("# ") {
                let (name, value) = named.split_once(": ").unwrap_or((named, ""));
                table.environment.push((name.to_owned(), value.to_owned()));
                continue;
            }
            match line.split('\t').collect::<Vec<_>>()[..] {
                [shape, arm, count, ..] if arm != "arm" => table.lines.push(Line {
                    shape: shape.to_owned(),
                    arm: arm.to_owned(),
                    count: count.parse()?,
                }),
                _ => {}
            }
        }
        Ok(table)
    }

    pub(crate) fn to_file(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.environment {
            let _ = writeln!(text, "# {name}: {value}");
        }
        text += "shape\tarm\tinstructions per row\tlimit\tratio\n";
        for line in &self.lines {
            let _ = write!(text, "{}\t{}\t{:.1}", line.shape, line.arm, line.count);
            if let Some((limit, _)) = line.limit() {
                let _ = write!(text, "\t{limit}\t{:.3}", line.count / limit);
            }
            text.push('\n');
        }
        text
    }

    /// For people: all arms, × against prost + convert, and against the limits.
    pub(crate) fn beside_limits(&self) -> String {
        let mut text = String::new();
        for lines in self.lines.chunk_by(|one, other| one.shape == other.shape) {
            let prost = lines.iter().find(|line| line.arm == "prost + convert");
            let _ = writeln!(
                text,
                "{}\n  {:<18} {:>12}  {:>10}  {:>7}  {:>6}",
                lines[0].shape, "", "instr/row", "× prost", "limit", "ratio"
            );
            for line in lines {
                let times = prost.map_or(0.0, |prost| prost.count / line.count);
                let _ = write!(
                    text,
                    "  {:<18} {:>12.1}  {times:>10.2}",
                    line.arm, line.count
                );
                if let Some((limit, allowed)) = line.limit() {
                    let ratio = line.count / limit;
                    let verdict = if ratio > allowed {
                        "  above what is required"
                    } else {
                        ""
                    };
                    let _ = write!(text, "  {limit:>7}  {ratio:>6.3}{verdict}");
                }
                text.push('\n');
            }
        }
        for (name, value) in &self.environment {
            let _ = writeln!(text, "{name}: {value}");
        }
        text
    }

    /// What keeps the two from being compared.
    pub(crate) fn environment_differs(&self, found: &Self) -> Option<String> {
        found.environment.iter().find_map(|(name, value)| {
            let kept = self.environment.iter().find(|(other, _)| other == name);
            let kept = kept.map_or("nothing", |(_, kept)| kept.as_str());
            (kept != value)
                .then(|| format!("{name} is \"{value}\", and the table was made with \"{kept}\""))
        })
    }

    /// What the lines are about.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines
            .iter()
            .map(|line| (line.shape.as_str(), line.arm.as_str()))
    }

    /// The lines that rose by more than a share of what they were, each with what it is now.
    pub(crate) fn worse<'t>(
        &'t self,
        found: &'t Self,
        tolerance: f64,
    ) -> Vec<(&'t Line, &'t Line)> {
        let pairs = self.lines.iter().filter_map(|kept| {
            let same = |line: &&Line| line.shape == kept.shape && line.arm == kept.arm;
            Some((kept, found.lines.iter().find(same)?))
        });
        // The two that are not ours say nothing about this crate.
        let ours = pairs.filter(|(kept, _)| !kept.arm.starts_with("prost") && kept.arm != "memcpy");
        ours.filter(|(kept, found)| found.count > kept.count * (1.0 + tolerance))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(count: f64) -> Table {
        let line = |arm: &str| Line {
            shape: "narrow".into(),
            arm: arm.into(),
            count,
        };
        Table {
            environment: vec![
                ("rustc".into(), "rustc 1.2: a".into()),
                ("cpu".into(), "avx2".into()),
            ],
            lines: vec![line("borrowed next"), line("prost alone")],
        }
    }

    #[test]
    fn the_file_says_what_the_table_does() {
        let read = Table::from_file(&table(250.5).to_file()).unwrap();
        assert_eq!(read.environment, table(0.0).environment);
        assert_eq!(read.lines.len(), 2);
        assert_eq!(read.lines[0].count, 250.5);
        assert_eq!(
            (&*read.lines[1].shape, &*read.lines[1].arm),
            ("narrow", "prost alone")
        );
    }

    #[test]
    fn a_rise_is_found_in_our_arms_only() {
        let worse = |found| table(100.0).worse(&table(found), 0.03).len();
        assert_eq!((worse(90.0), worse(102.9), worse(103.1)), (0, 0, 1));
    }

    #[test]
    fn other_compilers_are_not_compared() {
        let mut other = table(100.0);
        assert_eq!(table(100.0).environment_differs(&other), None);
        other.environment[0].1 = "rustc 1.3".into();
        let difference = table(100.0).environment_differs(&other).unwrap();
        assert!(
            difference.contains("rustc 1.3") && difference.contains("rustc 1.2: a"),
            "{difference}"
        );
    }
}
