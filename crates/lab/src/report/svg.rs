//! Figures by hand, as SVG: bars with intervals, a matrix, lines on two logarithmic axes. Series differ in colour (Okabe and Ito's
//! palette for the colour-blind) and in pattern; every bar and place says its figure in words; texts are laid out so that none
//! covers another, and a test looks at their boxes.
#![expect(clippy::float_arithmetic, reason = "coordinates of a drawing")]

use core::fmt::Write as _;

use crate::stats::Share;

const WIDTH: f64 = 920.0;
const FONT: f64 = 13.0;
const SMALL: f64 = 11.0;
/// About how wide a letter is, in its font's size.
const LETTER: f64 = 0.56;

/// A drawing under way.
#[derive(Debug)]
pub(super) struct Figure {
    /// Its name in file names.
    pub(super) id: &'static str,
    /// What it shows.
    pub(super) title: String,
    height: f64,
    body: String,
    boxes: Vec<Placed>,
}

/// Where a text stands.
#[derive(Debug, Clone)]
#[cfg_attr(not(test), expect(dead_code, reason = "a test looks whether one covers another"))]
struct Placed {
    text: String,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Where a text is held.
#[derive(Debug, Clone, Copy)]
enum Hold {
    Start,
    Middle,
    End,
}

/// How a series looks: its colour and pattern.
const SERIES: [(&str, Pattern); 5] = [
    ("#d55e00", Pattern::Plain),
    ("#e69f00", Pattern::Slanted),
    ("#56b4e9", Pattern::Dotted),
    ("#009e73", Pattern::Crossed),
    ("#555555", Pattern::Level),
];

#[derive(Debug, Clone, Copy)]
enum Pattern {
    Plain,
    Slanted,
    Dotted,
    Crossed,
    Level,
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML has no way to say a control character.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "letters of a label")]
fn width_of(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

#[expect(clippy::cast_precision_loss, reason = "a few bars")]
fn number(count: usize) -> f64 {
    count as f64
}

impl Figure {
    fn new(id: &'static str, title: &str, below: &str) -> Self {
        let title = title.to_owned();
        let (body, boxes) = (String::new(), Vec::new());
        let mut figure = Self { id, title: title.clone(), height: 0.0, body, boxes };
        figure.text(WIDTH / 2.0, 24.0, 16.0, Hold::Middle, &title);
        figure.text(WIDTH / 2.0, 44.0, SMALL, Hold::Middle, below);
        figure
    }

    fn draw(&mut self, element: core::fmt::Arguments<'_>) {
        self.body.write_fmt(element).unwrap_or_default();
        self.body.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, size: f64, hold: Hold, text: &str) {
        let width = width_of(text, size);
        let (anchor, left) = match hold {
            Hold::Start => ("start", x),
            Hold::Middle => ("middle", x - width / 2.0),
            Hold::End => ("end", x - width),
        };
        self.boxes.push(Placed {
            text: text.to_owned(),
            x: left,
            y: y - size * 0.8,
            width,
            height: size,
        });
        let text = escape(text);
        self.draw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: &str) {
        self.draw(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"
        ));
    }

    fn legend(&mut self, y: f64, names: &[&str]) {
        let gap = 34.0;
        let total: f64 =
            names.iter().map(|name| width_of(name, FONT) + 22.0 + gap).sum::<f64>() - gap;
        let mut x = (WIDTH - total) / 2.0;
        for (at, name) in names.iter().enumerate() {
            let id = self.id;
            self.draw(format_args!(
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"16\" height=\"12\" fill=\"url(#{id}-s{at})\" stroke=\"#222\"/>",
                y - 10.0,
            ));
            self.text(x + 22.0, y, FONT, Hold::Start, name);
            x += width_of(name, FONT) + 22.0 + gap;
        }
    }

    /// The whole drawing.
    pub(super) fn svg(&self) -> String {
        let (id, title, height, body) = (self.id, escape(&self.title), self.height, &self.body);
        let mut patterns = String::new();
        for (at, (colour, pattern)) in SERIES.iter().enumerate() {
            let marks = match pattern {
                Pattern::Plain => "",
                Pattern::Slanted => "<path d=\"M0 8L8 0\" stroke=\"#222\" stroke-width=\"1.1\"/>",
                Pattern::Dotted => "<circle cx=\"4\" cy=\"4\" r=\"1.4\" fill=\"#222\"/>",
                Pattern::Crossed => {
                    "<path d=\"M0 8L8 0M0 0L8 8\" stroke=\"#222\" stroke-width=\"0.8\"/>"
                }
                Pattern::Level => "<path d=\"M0 4L8 4\" stroke=\"#fff\" stroke-width=\"1.2\"/>",
            };
            write!(patterns, "<pattern id=\"{id}-s{at}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\" fill=\"{colour}\"/>{marks}</pattern>").unwrap_or_default();
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-title\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"#1a1a1a\">\n\
             <title id=\"{id}-title\">{title}</title>\n<defs>{patterns}</defs>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }

    /// The first two texts that cover each other, and the first that leaves the drawing.
    #[cfg(test)]
    pub(super) fn collision(&self) -> Option<String> {
        for (at, one) in self.boxes.iter().enumerate() {
            if one.x < 0.0
                || one.x + one.width > WIDTH
                || one.y < 0.0
                || one.y + one.height > self.height
            {
                return Some(format!("`{}` leaves the drawing", one.text));
            }
            let covers = |other: &&Placed| {
                one.x < other.x + other.width
                    && other.x < one.x + one.width
                    && one.y < other.y + other.height
                    && other.y < one.y + one.height
            };
            if let Some(other) = self.boxes.iter().skip(at + 1).find(covers) {
                return Some(format!("`{}` and `{}`", one.text, other.text));
            }
        }
        None
    }
}

/// Bars side by side under one name.
#[derive(Debug)]
pub(super) struct Group {
    /// Its name.
    pub(super) name: String,
    /// One share for each series; none where it was not run.
    pub(super) bars: Vec<Option<Share>>,
}

/// Bars in groups, in panels one under the other, each bar with its interval.
pub(super) fn bars(
    id: &'static str,
    (title, below, axis): (&str, &str, &str),
    series: &[&str],
    panels: &[(String, Vec<Group>)],
) -> Figure {
    const LEFT: f64 = 64.0;
    const TALL: f64 = 190.0;
    let mut figure = Figure::new(id, title, below);
    figure.legend(70.0, series);
    let mut top = 96.0;
    for (name, groups) in panels {
        if !name.is_empty() {
            figure.text(LEFT, top + 6.0, FONT, Hold::Start, name);
            top += 22.0;
        }
        let bottom = top + 16.0 + TALL;
        let at = |percent: f64| bottom - TALL * percent / 100.0;
        for tick in [0.0, 25.0, 50.0, 75.0, 100.0] {
            figure.line((LEFT, at(tick)), (WIDTH - 16.0, at(tick)), "stroke=\"#d8d8d8\"");
            figure.text(LEFT - 6.0, at(tick) + 4.0, SMALL, Hold::End, &format!("{tick:.0}"));
        }
        figure.draw(format_args!(
            "<text transform=\"translate(16 {:.1}) rotate(-90)\" font-size=\"{SMALL}\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(top + 16.0, bottom),
            escape(axis)
        ));
        let each = (WIDTH - 16.0 - LEFT) / number(groups.len().max(1));
        let wide = (each * 0.86 / number(series.len().max(1))).min(56.0);
        for (number_of, group) in groups.iter().enumerate() {
            let middle = LEFT + each * (number(number_of) + 0.5);
            let first = middle - wide * number(series.len()) / 2.0;
            for (at_series, share) in group.bars.iter().enumerate() {
                let x = first + wide * number(at_series);
                bar(&mut figure, (x, wide), at_series, *share, &at);
            }
            figure.text(middle, bottom + 18.0, FONT, Hold::Middle, &group.name);
        }
        figure.line((LEFT, bottom), (WIDTH - 16.0, bottom), "stroke=\"#222\"");
        top = bottom + 40.0;
    }
    figure.height = top;
    figure
}

fn bar(
    figure: &mut Figure,
    (x, wide): (f64, f64),
    series: usize,
    share: Option<Share>,
    at: &dyn Fn(f64) -> f64,
) {
    let middle = x + wide / 2.0;
    let Some((share, percent)) = share.and_then(|share| Some((share, share.percent()?))) else {
        figure.text(middle, at(0.0) - 4.0, SMALL, Hold::Middle, "–");
        return;
    };
    let (low, high) = share.interval();
    let id = figure.id;
    figure.draw(format_args!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"url(#{id}-s{series})\" stroke=\"#222\" stroke-width=\"0.6\"/>",
        x + 2.0,
        at(percent),
        wide - 4.0,
        (at(0.0) - at(percent)).max(0.8),
    ));
    let style = "stroke=\"#111\" stroke-width=\"1.3\"";
    figure.line((middle, at(low)), (middle, at(high)), style);
    for end in [low, high] {
        figure.line((middle - 4.0, at(end)), (middle + 4.0, at(end)), style);
    }
    figure.text(middle, at(high) - 4.0, SMALL, Hold::Middle, &format!("{percent:.0}"));
}

/// A matrix whose places say what came out, in words and in colour.
pub(super) fn matrix(
    id: &'static str,
    (title, below): (&str, &str),
    columns: &[&str],
    rows: &[(String, Vec<&'static str>)],
) -> Figure {
    const LEFT: f64 = 120.0;
    const HIGH: f64 = 24.0;
    let mut figure = Figure::new(id, title, below);
    let wide = (WIDTH - 12.0 - LEFT) / number(columns.len().max(1));
    for (at, column) in columns.iter().enumerate() {
        let middle = LEFT + wide * (number(at) + 0.5);
        // A long name takes two lines.
        let (first, second) = column.split_once(" + ").map_or((*column, ""), |(a, b)| (a, b));
        if second.is_empty() {
            figure.text(middle, 84.0, SMALL, Hold::Middle, first);
        } else {
            figure.text(middle, 70.0, SMALL, Hold::Middle, first);
            figure.text(middle, 84.0, SMALL, Hold::Middle, &format!("+ {second}"));
        }
    }
    for (down, (name, words)) in rows.iter().enumerate() {
        let top = 94.0 + HIGH * number(down);
        figure.text(LEFT - 8.0, top + 16.0, SMALL, Hold::End, name);
        for (at, word) in words.iter().enumerate() {
            let x = LEFT + wide * number(at);
            let (fill, weight) = match *word {
                "succeeds" => ("#f2b48a", "bold"),
                "in part" => ("#f6e3b4", "bold"),
                "blocked" => ("#cfe8f5", "normal"),
                _ => ("#eeeeee", "normal"),
            };
            figure.draw(format_args!(
                "<g font-weight=\"{weight}\"><rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{HIGH:.1}\" fill=\"{fill}\" stroke=\"#ffffff\" stroke-width=\"2\"/>"
            ));
            figure.text(x + wide / 2.0, top + 16.0, SMALL, Hold::Middle, word);
            figure.draw(format_args!("</g>"));
        }
    }
    figure.height = 94.0 + HIGH * number(rows.len()) + 16.0;
    figure
}

/// A curve, and the name at its end.
#[derive(Debug)]
pub(super) struct Curve {
    /// Its name.
    pub(super) name: String,
    /// Its points.
    pub(super) points: Vec<(f64, f64)>,
    /// Whether it was published and not measured here.
    pub(super) published: bool,
}

/// Curves on two logarithmic axes, each named at its right end.
pub(super) fn curves(
    id: &'static str,
    (title, below): (&str, &str),
    (x_axis, y_axis): (&str, &str),
    ticks: &[(f64, &str)],
    all: &[Curve],
) -> Figure {
    const LEFT: f64 = 84.0;
    const RIGHT: f64 = WIDTH - 250.0;
    const TOP: f64 = 70.0;
    const BOTTOM: f64 = 440.0;
    let mut figure = Figure::new(id, title, below);
    let points = || all.iter().flat_map(|curve| curve.points.iter());
    let min_x = points().map(|it| it.0).fold(f64::INFINITY, f64::min).max(1.0);
    let max_x = points().map(|it| it.0).fold(1.0, f64::max).max(min_x * 10.0);
    let (low, high) = match (ticks.first(), ticks.last()) {
        (Some(first), Some(last)) => (first.0, last.0),
        _ => (1.0, 10.0),
    };
    let along = |x: f64| LEFT + (RIGHT - LEFT) * (x / min_x).log10() / (max_x / min_x).log10();
    let up = |y: f64| BOTTOM - (BOTTOM - TOP) * (y.max(low) / low).log10() / (high / low).log10();
    for (value, name) in ticks {
        figure.line((LEFT, up(*value)), (RIGHT, up(*value)), "stroke=\"#d8d8d8\"");
        figure.text(LEFT - 6.0, up(*value) + 4.0, SMALL, Hold::End, name);
    }
    let mut tick = min_x;
    while tick <= max_x * 1.001 {
        figure.line((along(tick), TOP), (along(tick), BOTTOM), "stroke=\"#eeeeee\"");
        figure.text(along(tick), BOTTOM + 18.0, SMALL, Hold::Middle, &thousands(tick));
        tick *= 10.0;
    }
    figure.text(f64::midpoint(LEFT, RIGHT), BOTTOM + 40.0, FONT, Hold::Middle, x_axis);
    figure.draw(format_args!(
        "<text transform=\"translate(20 {:.1}) rotate(-90)\" font-size=\"{FONT}\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(TOP, BOTTOM),
        escape(y_axis)
    ));
    // Names stand where their curves end, and move apart where they would cover each other.
    let mut ends: Vec<(usize, f64)> = all
        .iter()
        .enumerate()
        .filter_map(|(at, curve)| curve.points.last().map(|end| (at, up(end.1))))
        .collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut lowest = TOP;
    for (_, y) in &mut ends {
        *y = y.max(lowest);
        lowest = *y + FONT + 4.0;
    }
    for (at, y) in ends {
        let Some(curve) = all.get(at) else { continue };
        let colour = SERIES.get(at % SERIES.len()).map_or("#222", |it| it.0);
        let dash = if curve.published { "stroke-dasharray=\"6 4\"" } else { "" };
        let path: Vec<String> =
            curve.points.iter().map(|(x, y)| format!("{:.1},{:.1}", along(*x), up(*y))).collect();
        figure.draw(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.2\" {dash}/>",
            path.join(" ")
        ));
        for (x, y) in &curve.points {
            mark(&mut figure, at, (along(*x), up(*y)), colour);
        }
        if let Some(end) = curve.points.last() {
            let from = (along(end.0) + 7.0, up(end.1));
            figure.line(from, (RIGHT + 14.0, y), &format!("stroke=\"{colour}\""));
        }
        figure.text(RIGHT + 18.0, y + 4.0, FONT, Hold::Start, &curve.name);
    }
    figure.height = BOTTOM + 58.0;
    figure
}

/// A point of a curve, in a shape of its own.
fn mark(figure: &mut Figure, series: usize, (x, y): (f64, f64), colour: &str) {
    let r = 4.5;
    match series % 3 {
        0 => figure.draw(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" fill=\"{colour}\"/>"
        )),
        1 => figure.draw(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" fill=\"{colour}\"/>",
            x - r,
            y - r
        )),
        _ => figure.draw(format_args!(
            "<path d=\"M{x:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{colour}\"/>",
            y - r,
            x + r,
            y + r,
            x - r,
            y + r
        )),
    }
}

fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
