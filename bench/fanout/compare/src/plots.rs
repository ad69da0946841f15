//! Plots of what depends on the number of streams, as SVG. Both axes are logarithmic: twice as much is as far everywhere.

use std::{fmt::Write, fs, path::Path};

use crate::{
    Failure,
    cases::Case,
    results::Results,
    servers::NAMES,
    table::{count, in_order, number},
};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 610.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 370.0;

/// One for each of the usual servers, told apart by those who do not see all colours; the last is for other builds.
const COLOURS: [&str; 6] = ["#777777", "#000000", "#e69f00", "#009e73", "#0072b2", "#cc79a7"];

struct Line {
    server: String,
    /// Streams, and the median.
    points: Vec<(f64, f64)>,
}

pub fn write(results: &Results, out: &Path) -> Result<(), Failure> {
    let plots = [
        ("delivery", "CPU per delivery (µs)", Case::Lockstep, "/run/cpu_us_per_delivery"),
        ("one-of-many", "CPU per event that concerns one stream (µs)", Case::Spread, "/run/cpu_us_per_event"),
        (
            "last-arrival",
            "Until the last stream has an event, p50 (µs)",
            Case::Lockstep,
            "/run/last_arrival_us/p50",
        ),
        ("memory", "Memory of an idle stream (bytes)", Case::Growth, "/open/bytes_per_stream"),
    ];
    for (name, title, case, pointer) in plots {
        let sizes = results.sizes(case);
        let line = |server: String| {
            let point = |&streams: &usize| {
                let median = results.median(&results.figure(case, streams, pointer), &server)?;
                (median > 0.0).then_some((streams as f64, median))
            };
            Line { points: sizes.iter().filter_map(point).collect(), server }
        };
        let lines: Vec<Line> = in_order(results.servers())
            .into_iter()
            .map(line)
            .filter(|line| !line.points.is_empty())
            .collect();
        // One number is no line.
        if sizes.len() > 1 && !lines.is_empty() {
            fs::write(out.join(format!("{name}.svg")), svg(title, &sizes, &lines))?;
        }
    }
    Ok(())
}

/// From values to places.
struct Scale {
    from: (f64, f64),
    to: (f64, f64),
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let part = (value / self.from.0).ln() / (self.from.1 / self.from.0).ln();
        self.to.0 + part * (self.to.1 - self.to.0)
    }
}

fn svg(title: &str, sizes: &[usize], lines: &[Line]) -> String {
    let values = || lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let marks = marks(values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
    let ends = |all: &[f64]| (all[0], all[all.len() - 1]);
    let streams: Vec<f64> = sizes.iter().map(|&streams| streams as f64).collect();
    let x = Scale { from: ends(&streams), to: (LEFT, RIGHT) };
    let y = Scale { from: ends(&marks), to: (BOTTOM, TOP) };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"26\" font-size=\"16\">{title}</text>\n"
    );
    for &mark in &marks {
        let (at, label) = (y.at(mark), number(mark));
        let label = label.trim_end_matches(".0").trim_end_matches(".00");
        _ = writeln!(svg, "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#dddddd\"/>");
        _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    for &size in sizes {
        let (at, label) = (x.at(size as f64), count(size));
        _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            BOTTOM + 20.0
        );
    }
    _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\" fill=\"#777777\">open streams</text>", BOTTOM + 40.0);
    let labels = labels(lines, &y);
    for (line, label) in lines.iter().zip(labels) {
        let colour = NAMES.iter().position(|name| *name == line.server).unwrap_or(NAMES.len());
        let colour = COLOURS[colour];
        let path: Vec<String> = line
            .points
            .iter()
            .map(|&(streams, value)| format!("{:.1} {:.1}", x.at(streams), y.at(value)))
            .collect();
        _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join("L")
        );
        let (left, name) = (RIGHT + 10.0, &line.server);
        _ = writeln!(svg, "<text x=\"{left}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>", label + 4.0);
    }
    svg + "</svg>\n"
}

/// 1, 2, 5, 10 and so on, from the last below all values to the first above.
fn marks(low: f64, high: f64) -> Vec<f64> {
    let mut marks = vec![10f64.powf(low.log10().floor())];
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        let last = marks[marks.len() - 1];
        if last > high {
            return marks;
        }
        if last * factor <= low {
            marks.clear();
        }
        marks.push(last * factor);
    }
    marks
}

/// Where the name of each line stands: at its end, and no two in one place.
fn labels(lines: &[Line], y: &Scale) -> Vec<f64> {
    let end = |line: &Line| line.points.last().map_or(BOTTOM, |point| y.at(point.1));
    let mut places: Vec<(usize, f64)> = lines.iter().map(end).enumerate().collect();
    places.sort_by(|one, other| one.1.total_cmp(&other.1));
    for index in 1..places.len() {
        places[index].1 = places[index].1.max(places[index - 1].1 + 16.0);
    }
    places.sort_by_key(|place| place.0);
    places.into_iter().map(|place| place.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_round_all_values() {
        assert_eq!(marks(3.0, 17.0), [2.0, 5.0, 10.0, 20.0]);
        assert_eq!(marks(1.0, 1.0), [1.0, 2.0]);
        let small = marks(0.3, 0.4);
        assert!(small[0] <= 0.3 && small[small.len() - 1] > 0.4, "{small:?}");
    }

    #[test]
    fn names_of_lines_that_end_together_stand_apart() {
        let line = |value| Line { server: String::new(), points: vec![(1.0, value)] };
        let y = Scale { from: (1.0, 10.0), to: (BOTTOM, TOP) };
        let places = labels(&[line(5.0), line(5.1), line(2.0)], &y);
        assert!((places[0] - places[1]).abs() >= 16.0 && places[2] > places[0]);
    }
}
