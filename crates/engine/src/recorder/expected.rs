//! Which statuses are expected: those of the Plan, and any in the steps of a journey that permit any.

use ablaze_model::plan::Plan;

/// Asked for every response.
#[derive(Debug)]
pub(super) struct Expected {
    statuses: Box<[bool; 1000]>,
    /// Templates for which any is; empty where there is none.
    any: Box<[bool]>,
}

impl Expected {
    pub fn of(plan: &Plan) -> Self {
        let mut statuses = Box::new([false; 1000]);
        for (status, is_expected) in (0..).zip(statuses.iter_mut()) {
            *is_expected = plan.expect.iter().any(|range| range.contains(&status));
        }
        Self { statuses, any: any(plan) }
    }

    /// Whether a response with this status, below 1000, is as expected.
    #[inline]
    pub fn is(&self, status: usize, template: u32) -> bool {
        self.statuses[status] || self.is_any(template)
    }

    #[cold]
    fn is_any(&self, template: u32) -> bool {
        self.any.get(template as usize).is_some_and(|is_any| *is_any)
    }
}

/// The templates of those steps, and of where they were redirected.
fn any(plan: &Plan) -> Box<[bool]> {
    let planned = plan.journey.as_ref().filter(|planned| !planned.any_status.is_empty());
    let Some((planned, route)) = planned.and_then(|own| Some((own, own.route.as_ref()?))) else {
        return Box::default();
    };
    let mut any = vec![false; route.rows()];
    for step in &planned.any_status {
        let redirects = route.redirects.get(*step).into_iter().flatten();
        let of_redirects = redirects.flat_map(|row| [row.get as usize, row.same as usize]);
        of_redirects.chain([*step]).for_each(|template| any[template] = true);
    }
    any.into()
}
