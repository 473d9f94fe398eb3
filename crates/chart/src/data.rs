//! A chart's figures as tables, for pages that show both and for those who do not see charts.

use crate::{Bars, Chart, Panel, Plot, Unit};

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
            point
                .map_or("-".to_owned(), |point| with_interval(plot.y.unit, point.y, point.interval))
        });
        std::iter::once(series.name.clone()).chain(cells).collect()
    };
    Table { head, rows: plot.series.iter().map(row).collect() }
}

fn with_interval(unit: Unit, value: f64, interval: Option<(f64, f64)>) -> String {
    let text = unit.bare_text(value);
    match interval.filter(|_| value.is_finite()) {
        Some((low, high)) => format!("{text} [{}–{}]", unit.bare_text(low), unit.bare_text(high)),
        None => text,
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
        cells.push(match row.interval {
            Some(interval) if row.text.is_none() => {
                with_interval(bars.unit, row.sum().unwrap_or(f64::NAN), Some(interval))
            }
            _ => row.words(bars.unit),
        });
        cells
    };
    Table { head, rows: bars.rows.iter().map(row).collect() }
}
