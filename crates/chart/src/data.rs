//! A chart's figures as tables, for pages that show both and for those who do not see charts.

use crate::{Bars, Chart, Panel, Plot, Point};

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What its columns are.
    pub head: Vec<String>,
    /// Its rows, each as long as the head; the first cell says what the row is.
    pub rows: Vec<Vec<String>>,
}

impl Chart {
    /// One table per panel: a row per series and a column per x, or a row per bar.
    pub fn tables(&self) -> Vec<Table> {
        let table = |panel: &Panel| match panel {
            Panel::Plot(plot) => of_plot(plot),
            Panel::Bars(bars) => of_bars(bars),
        };
        self.panels.iter().map(table).collect()
    }
}

fn of_plot(plot: &Plot) -> Table {
    let mut columns: Vec<f64> =
        plot.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    columns.retain(|x| x.is_finite());
    columns.sort_by(f64::total_cmp);
    columns.dedup();
    if let Some(values) = plot.x.scale.categories() {
        columns = values;
    }
    let mut head = vec![plot.x.title.clone()];
    head.extend(columns.iter().map(|x| plot.x.text(*x)));
    let row = |series: &crate::Series| {
        let cells = columns.iter().map(|x| {
            let point = series.points.iter().find(|point| point.x == *x);
            point.map_or("-".to_owned(), |point| with_interval(plot, point))
        });
        std::iter::once(series.name.clone()).chain(cells).collect()
    };
    Table { head, rows: plot.series.iter().map(row).collect() }
}

fn with_interval(plot: &Plot, point: &Point) -> String {
    let unit = plot.y.unit;
    match point.interval {
        Some((low, high)) if point.y.is_finite() => {
            format!(
                "{} [{}–{}]",
                unit.bare_text(point.y),
                unit.bare_text(low),
                unit.bare_text(high)
            )
        }
        _ => unit.bare_text(point.y),
    }
}

fn of_bars(bars: &Bars) -> Table {
    let mut head = vec![String::new()];
    let several = bars.parts.len() > 1;
    if several {
        head.extend(bars.parts.iter().cloned());
    }
    head.push(bars.title.clone());
    let row = |row: &crate::BarRow| {
        let mut cells = vec![row.name.clone()];
        if several {
            let part = |index: usize| row.values.get(index).copied().unwrap_or(f64::NAN);
            cells.extend((0..bars.parts.len()).map(|index| bars.unit.text(part(index))));
        }
        cells.push(row.words(bars.unit));
        cells
    };
    Table { head, rows: bars.rows.iter().map(row).collect() }
}
