//! A chart of CPU per row, one block of bars for each shape, each drawn to the scale of its longest bar.

use std::fmt::Write as _;

use crate::arms::{Arm as _, floor::Floor};
use crate::report::Measured;

const WIDTH: usize = 760;
const LABELS: usize = 190;
const BARS: usize = 440;
const LINE: usize = 20;
const TITLE: usize = 34;

/// As SVG. Of a shape that was measured with several sizes of messages the first is drawn.
pub(crate) fn draw(measured: &[Measured]) -> String {
    let smallest = measured.iter().map(|case| case.message_bytes).min();
    let cases = measured
        .iter()
        .filter(|case| Some(case.message_bytes) == smallest);
    let mut body = String::new();
    let mut y = 44;
    for case in cases {
        let longest = case
            .arms
            .iter()
            .map(|arm| arm.cpu_ns_per_row)
            .fold(1.0, f64::max);
        let _ = writeln!(
            body,
            r#"<text x="0" y="{}" class="title">{} ({} rows per query)</text>"#,
            y + 22,
            case.shape,
            case.rows_per_query
        );
        y += TITLE;
        for arm in &case.arms {
            let length = arm.cpu_ns_per_row / longest * BARS as f64;
            let class = match arm.arm {
                name if name.starts_with("ours") => "ours",
                Floor::NAME => "floor",
                _ => "other",
            };
            let _ = writeln!(
                body,
                r#"<text x="{}" y="{}" class="arm">{}</text><rect x="{LABELS}" y="{}" width="{length:.1}" height="{}" rx="2" class="{class}"/><text x="{:.1}" y="{}">{:.0} ns</text>"#,
                LABELS - 8,
                y + 13,
                arm.arm,
                y + 2,
                LINE - 5,
                LABELS as f64 + length + 6.0,
                y + 13,
                arm.cpu_ns_per_row
            );
            y += LINE;
        }
    }
    let style = "text{font:12px system-ui,sans-serif;fill:#333}.arm{text-anchor:end}.title{font-weight:600;font-size:14px}\
                 .ours{fill:#1a73e8}.other{fill:#9aa0a6}.floor{fill:#dadce0}\
                 @media(prefers-color-scheme:dark){text{fill:#ddd}.floor{fill:#5f6368}}";
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\n\
         <style>{style}</style>\n\
         <text x=\"0\" y=\"20\" class=\"title\">CPU time of the client per row, kernel included (less is better)</text>\n{body}</svg>\n",
        height = y + 10
    )
}
