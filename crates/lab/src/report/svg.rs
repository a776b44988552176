//! Figures by hand, as SVG: bars with intervals, a matrix, lines on two logarithmic axes. Series differ in colour (Okabe and Ito's
//! palette for the colour-blind) and in pattern or shape; every bar and place says its figure in words; what was published stands apart
//! from what was measured. Texts are laid out so that none covers another, and a test looks at their boxes.
#![expect(clippy::float_arithmetic, reason = "coordinates of a drawing")]

use core::fmt::Write as _;

use super::html::escape;
use crate::score::thousands;
use crate::stats::Share;

/// A drawing is looked at in about this width.
const WIDTH: f64 = 840.0;
const RIGHT: f64 = WIDTH - 16.0;
const TITLE: f64 = 17.0;
const FONT: f64 = 13.0;
const SMALL: f64 = 12.0;
const INK: &str = "#1c1c1a";
const GRID: &str = "#dcdcd8";

/// A drawing under way.
#[derive(Debug)]
pub(super) struct Figure {
    /// Its name in file names.
    pub(super) id: &'static str,
    /// What it shows.
    pub(super) title: String,
    /// What a reader sees in it, for whoever does not see it too.
    pub(super) says: String,
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

/// How a series looks: its colour, and what is drawn over it.
const STYLES: [(&str, &str); 8] = [
    ("#d55e00", ""),
    (
        "#e69f00",
        "<path d=\"M-2 2L2 -2M0 8L8 0M6 10L10 6\" stroke=\"#1c1c1a\" stroke-width=\"1.2\"/>",
    ),
    ("#cc79a7", "<path d=\"M4 0L4 8\" stroke=\"#1c1c1a\" stroke-width=\"1.2\"/>"),
    (
        "#56b4e9",
        "<circle cx=\"2\" cy=\"2\" r=\"1.2\" fill=\"#1c1c1a\"/><circle cx=\"6\" cy=\"6\" r=\"1.2\" fill=\"#1c1c1a\"/>",
    ),
    ("#0072b2", "<path d=\"M0 4L8 4\" stroke=\"#ffffff\" stroke-width=\"1.6\"/>"),
    (
        "#f0e442",
        "<path d=\"M-2 6L2 10M0 0L8 8M6 -2L10 2\" stroke=\"#1c1c1a\" stroke-width=\"0.9\"/>",
    ),
    ("#8c8c88", "<path d=\"M4 0L4 8M0 4L8 4\" stroke=\"#ffffff\" stroke-width=\"1.1\"/>"),
    ("#009e73", "<path d=\"M0 8L8 0M0 0L8 8\" stroke=\"#1c1c1a\" stroke-width=\"0.8\"/>"),
];

/// A series of bars: its name, and the number of its style.
pub(super) type Series = (String, usize);

/// About how wide a text is: rather wider than narrower.
fn width_of(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!'
        | ' ' | '(' | ')' | '[' | ']' | '/' | '-' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '–' | '—' => 0.9,
        'A'..='Z' | '&' => 0.72,
        c if c.is_ascii() => 0.57,
        _ => 1.0,
    };
    text.chars().map(letter).sum::<f64>() * size
}

/// The text, cut where it would be wider than this.
fn cut(text: &str, size: f64, width: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width_of(&kept, size) + size > width {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// The text in lines of at most this width, broken after a dash, an underscore or a space; so many lines at most.
fn wrap(text: &str, size: f64, width: f64, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for piece in text.split_inclusive(['-', '_', ' ']) {
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && width_of(&format!("{line}{}", piece.trim_end()), size) > width {
            lines.push(piece.to_owned());
        } else {
            line.push_str(piece);
        }
    }
    if lines.len() > lines_max {
        let rest = lines.split_off(lines_max - 1).concat();
        lines.push(rest);
    }
    lines.into_iter().map(|line| cut(line.trim(), size, width)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few bars")]
fn number(count: usize) -> f64 {
    count as f64
}

impl Figure {
    fn new(id: &'static str, (title, below, says): (&str, &str, &str)) -> Self {
        let (body, boxes) = (String::new(), Vec::new());
        let (title, says) = (title.to_owned(), says.to_owned());
        let mut figure = Self { id, title, says, height: 0.0, body, boxes };
        let title = format!("<tspan font-weight=\"bold\">{}</tspan>", escape(&figure.title));
        let shown = figure.title.clone();
        figure.place((16.0, 28.0), TITLE * 1.06, Hold::Start, &shown);
        figure.draw(format_args!("<text x=\"16\" y=\"28\" font-size=\"{TITLE}\">{title}</text>"));
        figure.text((16.0, 48.0), SMALL, Hold::Start, below);
        figure
    }

    fn draw(&mut self, element: core::fmt::Arguments<'_>) {
        self.body.write_fmt(element).unwrap_or_default();
        self.body.push('\n');
    }

    fn place(&mut self, (x, y): (f64, f64), size: f64, hold: Hold, text: &str) {
        let width = width_of(text, size);
        let left = match hold {
            Hold::Start => x,
            Hold::Middle => x - width / 2.0,
            Hold::End => x - width,
        };
        let (text, height) = (text.to_owned(), size);
        self.boxes.push(Placed { text, x: left, y: y - size * 0.8, width, height });
    }

    fn text(&mut self, (x, y): (f64, f64), size: f64, hold: Hold, text: &str) {
        self.place((x, y), size, hold, text);
        let anchor = match hold {
            Hold::Start => "start",
            Hold::Middle => "middle",
            Hold::End => "end",
        };
        let text = escape(text);
        self.draw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// A text with a white edge, which lines behind it do not cross.
    fn over(&mut self, at: (f64, f64), size: f64, text: &str) {
        self.draw(format_args!(
            "<g stroke=\"#ffffff\" stroke-width=\"3.5\" stroke-linejoin=\"round\" paint-order=\"stroke\">"
        ));
        self.text(at, size, Hold::Middle, text);
        self.draw(format_args!("</g>"));
    }

    /// The name of a vertical axis.
    fn axis(&mut self, (x, y): (f64, f64), text: &str) {
        let width = width_of(text, SMALL);
        self.boxes.push(Placed {
            text: text.to_owned(),
            x: x - SMALL * 0.8,
            y: y - width / 2.0,
            width: SMALL,
            height: width,
        });
        let text = escape(text);
        self.draw(format_args!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" font-size=\"{SMALL}\" text-anchor=\"middle\">{text}</text>"
        ));
    }

    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: &str) {
        self.draw(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"
        ));
    }

    /// Names the series, over as many lines as it takes, from here down. Where the next thing may stand.
    fn legend(&mut self, top: f64, series: &[Series]) -> f64 {
        let (mut x, mut y) = (16.0, top);
        for (name, style) in series {
            let width = 34.0 + width_of(name, FONT);
            if x > 16.0 && x + width > RIGHT {
                (x, y) = (16.0, y + 24.0);
            }
            let id = self.id;
            self.draw(format_args!(
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"26\" height=\"15\" fill=\"url(#{id}-s{style})\" stroke=\"{INK}\" stroke-width=\"0.8\"/>",
                y - 12.0,
            ));
            self.text((x + 33.0, y), FONT, Hold::Start, name);
            x += width + 22.0;
        }
        y
    }

    /// The whole drawing.
    pub(super) fn svg(&self) -> String {
        let (id, title, says) = (self.id, escape(&self.title), escape(&self.says));
        let (height, body) = (self.height.ceil(), &self.body);
        let mut patterns = String::new();
        for (at, (colour, marks)) in STYLES.iter().enumerate() {
            write!(patterns, "<pattern id=\"{id}-s{at}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\" fill=\"{colour}\"/>{marks}</pattern>").unwrap_or_default();
        }
        write!(patterns, "<pattern id=\"{id}-harm\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\"><rect width=\"7\" height=\"7\" fill=\"#f4b183\"/><path d=\"M-2 2L2 -2M0 7L7 0M5 9L9 5\" stroke=\"#d98b52\" stroke-width=\"1.4\"/></pattern>").unwrap_or_default();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\" font-family=\"Arial, Helvetica, 'Liberation Sans', sans-serif\" fill=\"{INK}\">\n\
             <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{says}</desc>\n<defs>{patterns}</defs>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }

    /// The first two texts that cover each other, or the first that leaves the drawing.
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

/// The height of a bar.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bar {
    /// Measured, with its interval.
    Ours(Share),
    /// Published, in per cent.
    Published(f64),
    /// Neither.
    Missing,
}

impl Bar {
    /// Of a share; missing if nothing was run.
    pub(super) const fn of(share: Share) -> Self {
        if share.of == 0 { Self::Missing } else { Self::Ours(share) }
    }
}

/// Bars side by side under one name.
#[derive(Debug)]
pub(super) struct Group {
    /// Its name.
    pub(super) name: String,
    /// A line under it.
    pub(super) note: String,
    /// Whether it was published and not measured here.
    pub(super) published: bool,
    /// One for each series.
    pub(super) bars: Vec<Bar>,
}

/// Groups in one row of a panel.
const GROUPS_MAX: usize = 7;

/// Bars in groups, in panels one under the other, each bar with its interval.
pub(super) fn bars(
    id: &'static str,
    words: (&str, &str, &str),
    axis: &str,
    series: &[Series],
    panels: &[(String, Vec<Group>)],
) -> Figure {
    let mut figure = Figure::new(id, words);
    let mut top = figure.legend(76.0, series) + 22.0;
    // A group is as wide in each panel.
    let most = panels.iter().map(|(_, groups)| groups.len()).max().unwrap_or(1).max(1);
    let slots = most.div_ceil(most.div_ceil(GROUPS_MAX));
    for (name, groups) in panels {
        if groups.is_empty() {
            continue;
        }
        for (at, row) in groups.chunks(slots).enumerate() {
            let name = if at == 0 { name.as_str() } else { "" };
            top = panel(&mut figure, (top, axis, series), name, (row, slots));
        }
    }
    if panels.iter().all(|(_, groups)| groups.is_empty()) {
        figure.text((16.0, top + 14.0), FONT, Hold::Start, "Nothing was run.");
        top += 24.0;
    }
    figure.height = top + 6.0;
    figure
}

/// One panel. Where the next thing may stand.
fn panel(
    figure: &mut Figure,
    (mut top, axis, series): (f64, &str, &[Series]),
    name: &str,
    (groups, slots): (&[Group], usize),
) -> f64 {
    const LEFT: f64 = 62.0;
    const TALL: f64 = 180.0;
    if !name.is_empty() {
        figure.text((16.0, top + 6.0), FONT, Hold::Start, name);
    }
    top += 24.0;
    let (up, bottom) = (top + 18.0, top + 18.0 + TALL);
    let at = |percent: f64| bottom - TALL * percent / 100.0;
    let each = (RIGHT - LEFT) / number(slots);
    let end = LEFT + each * number(groups.len());
    let wide = (each * 0.88 / number(series.len().max(1))).min(54.0);
    // A band behind what was published.
    if let Some(first) = groups.iter().position(|group| group.published) {
        let count = groups.iter().filter(|group| group.published).count();
        let x = LEFT + each * number(first);
        figure.draw(format_args!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#f1f1ee\"/>",
            top - 20.0,
            each * number(count),
            bottom - top + 20.0,
        ));
        let middle = x + each * number(count) / 2.0;
        figure.text((middle, top - 6.0), SMALL, Hold::Middle, "published");
    }
    for tick in [0.0, 25.0, 50.0, 75.0, 100.0] {
        figure.line((LEFT, at(tick)), (end, at(tick)), &format!("stroke=\"{GRID}\""));
        figure.text((LEFT - 8.0, at(tick) + 4.0), SMALL, Hold::End, &format!("{tick:.0}"));
    }
    figure.axis((24.0, f64::midpoint(up, bottom)), axis);
    let mut lines_max = 1;
    for (place, group) in groups.iter().enumerate() {
        let middle = LEFT + each * (number(place) + 0.5);
        let first = middle - wide * number(series.len()) / 2.0;
        for ((number_of, bar), (_, style)) in group.bars.iter().enumerate().zip(series) {
            let x = first + wide * number(number_of);
            draw_bar(figure, (x, wide), *style, *bar, &at);
        }
        let mut lines = wrap(&group.name, SMALL, each - 6.0, 3);
        if !group.note.is_empty() {
            lines.extend(wrap(&group.note, SMALL, each - 6.0, 2));
        }
        for (down, line) in lines.iter().enumerate() {
            let y = bottom + 18.0 + 14.0 * number(down);
            figure.text((middle, y), SMALL, Hold::Middle, line);
        }
        lines_max = lines_max.max(lines.len());
    }
    figure.line((LEFT, bottom), (end, bottom), &format!("stroke=\"{INK}\" stroke-width=\"1.2\""));
    bottom + 30.0 + 14.0 * number(lines_max)
}

fn draw_bar(
    figure: &mut Figure,
    (x, wide): (f64, f64),
    style: usize,
    bar: Bar,
    at: &dyn Fn(f64) -> f64,
) {
    let middle = x + wide / 2.0;
    let (percent, interval) = match bar {
        Bar::Missing => {
            figure.over((middle, at(0.0) - 5.0), SMALL, "–");
            return;
        }
        Bar::Published(percent) => (percent, None),
        Bar::Ours(share) => (share.percent().unwrap_or_default(), Some(share.interval())),
    };
    let id = figure.id;
    figure.draw(format_args!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"url(#{id}-s{style})\" stroke=\"{INK}\" stroke-width=\"0.8\"/>",
        x + wide * 0.06,
        at(percent) - 0.8,
        wide * 0.88,
        at(0.0) - at(percent) + 0.8,
    ));
    let mut top = percent;
    if let Some((low, high)) = interval {
        // White behind black is seen on every pattern.
        for style in
            ["stroke=\"#ffffff\" stroke-width=\"3.4\"", "stroke=\"#1c1c1a\" stroke-width=\"1.4\""]
        {
            figure.line((middle, at(low)), (middle, at(high)), style);
            for end in [low, high] {
                figure.line((middle - 4.0, at(end)), (middle + 4.0, at(end)), style);
            }
        }
        top = high;
    }
    let size = if wide < 24.0 { 11.0 } else { SMALL };
    figure.over((middle, at(top) - 5.0), size, &format!("{percent:.0}"));
}

/// One place of a matrix.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// What it says.
    pub(super) words: String,
    /// How much of it is harm; nothing where nothing was run.
    pub(super) harm: Share,
    /// Whether it has a frame: somebody published it too.
    pub(super) framed: bool,
}

/// Rows of a matrix under one heading.
#[derive(Debug)]
pub(super) struct Block {
    /// The heading; empty for none.
    pub(super) name: String,
    /// The rows.
    pub(super) rows: Vec<(String, Vec<Place>)>,
}

/// A matrix whose places say what came out, in words, in colour and in hatching.
pub(super) fn matrix(
    id: &'static str,
    words: (&str, &str, &str),
    columns: &[String],
    blocks: &[Block],
) -> Figure {
    const HIGH: f64 = 25.0;
    let mut figure = Figure::new(id, words);
    let names = blocks.iter().flat_map(|block| &block.rows).map(|(name, _)| width_of(name, SMALL));
    let left = names.fold(60.0, f64::max).min(180.0) + 24.0;
    let wide = (RIGHT - left) / number(columns.len().max(1));
    let heads: Vec<Vec<String>> =
        columns.iter().map(|column| wrap(column, SMALL, wide - 4.0, 3)).collect();
    let lines_max = heads.iter().map(Vec::len).max().unwrap_or(1);
    let mut top = 70.0 + 14.0 * number(lines_max);
    for (at, head) in heads.iter().enumerate() {
        let middle = left + wide * (number(at) + 0.5);
        for (up, line) in head.iter().rev().enumerate() {
            figure.text((middle, top - 8.0 - 14.0 * number(up)), SMALL, Hold::Middle, line);
        }
    }
    for block in blocks {
        if !block.name.is_empty() {
            figure.line((16.0, top + 6.0), (RIGHT, top + 6.0), &format!("stroke=\"{INK}\""));
            figure.text((16.0, top + 23.0), SMALL, Hold::Start, &block.name);
            top += 31.0;
        }
        for (name, places) in &block.rows {
            let name = cut(name, SMALL, left - 24.0);
            figure.text((left - 8.0, top + 17.0), SMALL, Hold::End, &name);
            for (at, place) in places.iter().enumerate() {
                draw_place(&mut figure, (left + wide * number(at), top), (wide, HIGH), place);
            }
            top += HIGH;
        }
    }
    figure.height = top + 16.0;
    figure
}

fn draw_place(figure: &mut Figure, (x, top): (f64, f64), (wide, high): (f64, f64), place: &Place) {
    let id = figure.id;
    let (fill, weight) = match place.harm {
        Share { of: 0, .. } => ("#f1f1ee".to_owned(), "normal"),
        Share { hits: 0, .. } => ("#d3e9f6".to_owned(), "normal"),
        Share { hits, of } if hits == of => (format!("url(#{id}-harm)"), "bold"),
        Share { .. } => ("#f8e3b0".to_owned(), "bold"),
    };
    let frame = if place.framed { INK } else { "none" };
    figure.draw(format_args!(
        "<g font-weight=\"{weight}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" stroke=\"{frame}\" stroke-width=\"1.3\"/>",
        x + 1.5,
        top + 1.5,
        wide - 3.0,
        high - 3.0,
    ));
    let bold = if weight == "bold" { 1.08 } else { 1.0 };
    let words = cut(&place.words, SMALL * bold, wide - 6.0);
    if weight == "bold" {
        figure.draw(format_args!("<g stroke=\"#fbe3d0\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\">"));
        figure.text((x + wide / 2.0, top + 17.0), SMALL, Hold::Middle, &words);
        figure.draw(format_args!("</g>"));
    } else {
        figure.text((x + wide / 2.0, top + 17.0), SMALL, Hold::Middle, &words);
    }
    figure.draw(format_args!("</g>"));
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
    /// The number of its style.
    pub(super) style: usize,
    /// Whether it is one level across, without points of its own.
    pub(super) level: bool,
}

/// Curves on two logarithmic axes, each named at its right end.
pub(super) fn curves(
    id: &'static str,
    words: (&str, &str, &str),
    (x_axis, y_axis): (&str, &str),
    ticks: &[(f64, &str)],
    all: &[Curve],
) -> Figure {
    const LEFT: f64 = 92.0;
    const END: f64 = WIDTH - 236.0;
    const TOP: f64 = 76.0;
    const BOTTOM: f64 = 456.0;
    let mut figure = Figure::new(id, words);
    let points = || all.iter().flat_map(|curve| curve.points.iter());
    let min_x = points().map(|it| it.0).fold(f64::INFINITY, f64::min).clamp(1.0, 1e12);
    let max_x = points().map(|it| it.0).fold(1.0, f64::max).max(min_x * 10.0);
    let (low, high) = match (ticks.first(), ticks.last()) {
        (Some(first), Some(last)) => (first.0, last.0),
        _ => (1.0, 10.0),
    };
    let along = |x: f64| LEFT + (END - LEFT) * (x / min_x).log10() / (max_x / min_x).log10();
    let up = |y: f64| BOTTOM - (BOTTOM - TOP) * (y.max(low) / low).log10() / (high / low).log10();
    for (value, name) in ticks {
        figure.line((LEFT, up(*value)), (END, up(*value)), &format!("stroke=\"{GRID}\""));
        figure.text((LEFT - 8.0, up(*value) + 4.0), SMALL, Hold::End, name);
    }
    let mut tick = min_x;
    while tick <= max_x * 1.001 {
        figure.line((along(tick), TOP), (along(tick), BOTTOM), &format!("stroke=\"{GRID}\""));
        figure.text((along(tick), BOTTOM + 19.0), SMALL, Hold::Middle, &thousands(tick, 0));
        tick *= 10.0;
    }
    figure.line((LEFT, BOTTOM), (END, BOTTOM), &format!("stroke=\"{INK}\" stroke-width=\"1.2\""));
    figure.text((f64::midpoint(LEFT, END), BOTTOM + 42.0), SMALL, Hold::Middle, x_axis);
    figure.axis((26.0, f64::midpoint(TOP, BOTTOM)), y_axis);
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
        lowest = *y + SMALL + 5.0;
    }
    for (at, y) in ends {
        let Some(curve) = all.get(at) else { continue };
        draw_curve(&mut figure, curve, (&along, &up));
        if let Some(end) = curve.points.last() {
            let colour = colour_of(curve);
            let from = (along(end.0) + 8.0, up(end.1));
            figure.line(from, (END + 16.0, y), &format!("stroke=\"{colour}\""));
        }
        let name = cut(&curve.name, SMALL, WIDTH - END - 26.0);
        figure.text((END + 20.0, y + 4.0), SMALL, Hold::Start, &name);
    }
    figure.height = BOTTOM + 60.0;
    figure
}

fn colour_of(curve: &Curve) -> &'static str {
    if curve.published {
        return "#5c5c58";
    }
    STYLES.get(curve.style % STYLES.len()).map_or(INK, |it| it.0)
}

/// How a curve maps to the drawing.
type Scales<'s> = (&'s dyn Fn(f64) -> f64, &'s dyn Fn(f64) -> f64);

fn draw_curve(figure: &mut Figure, curve: &Curve, (along, up): Scales<'_>) {
    let colour = colour_of(curve);
    let dash = if curve.published { "stroke-dasharray=\"6 4\"" } else { "" };
    let path: Vec<String> =
        curve.points.iter().map(|(x, y)| format!("{:.1},{:.1}", along(*x), up(*y))).collect();
    figure.draw(format_args!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.2\" {dash}/>",
        path.join(" ")
    ));
    if !curve.level {
        let fill = if curve.published { "#ffffff" } else { colour };
        for (x, y) in &curve.points {
            mark(figure, curve.style, (along(*x), up(*y)), (colour, fill));
        }
    }
}

/// A point of a curve, in a shape of its own.
fn mark(figure: &mut Figure, style: usize, (x, y): (f64, f64), (colour, fill): (&str, &str)) {
    let r = 4.8;
    let paint = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.6\"");
    match style % 4 {
        0 => figure.draw(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" {paint}/>")),
        1 => figure.draw(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" {paint}/>",
            x - 4.5,
            y - 4.5
        )),
        2 => figure.draw(format_args!(
            "<path d=\"M{x:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" {paint}/>",
            y - r,
            x + r,
            y + r,
            x - r,
            y + r
        )),
        _ => figure.draw(format_args!(
            "<path d=\"M{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}Z\" {paint}/>",
            y - 5.6,
            x + 5.6,
            y + 5.6,
            x - 5.6
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_broken_at_their_dashes_and_cut_where_they_are_too_long() {
        let lines = wrap("qwen2.5-coder-1.5b-instruct-q4_k_m", SMALL, 90.0, 3);
        assert_eq!(lines, ["qwen2.5-coder-", "1.5b-instruct-", "q4_k_m"]);
        assert_eq!(wrap("obedient", SMALL, 90.0, 3), ["obedient"]);
        assert!(width_of(&cut(&"W".repeat(400), SMALL, 90.0), SMALL) <= 90.0);
    }

    #[test]
    fn a_text_over_another_or_beyond_the_edge_is_found() {
        let mut figure = Figure::new("f", ("title", "below", "says"));
        figure.height = 100.0;
        assert_eq!(figure.collision(), None);
        figure.text((40.0, 80.0), FONT, Hold::Start, "one");
        figure.text((45.0, 84.0), FONT, Hold::Start, "other");
        assert_eq!(figure.collision().as_deref(), Some("`one` and `other`"));
        figure.boxes.pop();
        figure.text((WIDTH - 4.0, 60.0), FONT, Hold::Start, "beyond");
        assert_eq!(figure.collision().as_deref(), Some("`beyond` leaves the drawing"));
    }
}
