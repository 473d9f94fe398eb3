//! What connections to the Plan's origins are made with, made once for a run.

use std::net::SocketAddr;
use std::sync::Arc;

use ablaze_journey::StepBody;
use ablaze_quic::client::{Connector, Options, RequestSet};
use ablaze_quic::transport::Transport;

use crate::transport::tls::Shared;
use ablaze_model::plan::{Plan, PlanError};

/// The origins of a Plan.
#[derive(Clone)]
pub(crate) struct Origins {
    /// How connections to each origin are made, and the name that its certificate has to be for.
    origins: Vec<(Connector, String)>,
    /// By the driver's numbers of endpoints.
    endpoints: Box<[Endpoint]>,
}

/// One address of an origin.
#[derive(Clone)]
struct Endpoint {
    origin: u16,
    address: SocketAddr,
    /// How connections are made to it, once it is known what the device toward it takes.
    connector: Option<Connector>,
}

/// Whether requests have content: those of a list, or those that users of a journey send.
fn sends_content(plan: &Plan) -> bool {
    let route = plan.journey.as_ref().and_then(|journey| journey.route.as_ref());
    let mut steps = route.iter().flat_map(|route| &route.journey.steps);
    plan.requests.has_body || steps.any(|step| step.body != StepBody::None)
}

impl Origins {
    /// From the Plan; `None` if it does not speak HTTP/3.
    ///
    /// # Errors
    /// When the offer of TLS is empty, or a certificate, a key or a name cannot be used.
    pub fn of(plan: &Plan) -> Result<Option<Self>, PlanError> {
        let Some(http3) = plan.http3 else { return Ok(None) };
        let options = Options {
            streams: http3.streams,
            field_section_bytes: plan.limits.max_head_bytes.try_into().unwrap_or(u32::MAX),
            table_bytes: http3.qpack_table_bytes,
            transport: Transport {
                idle_timeout_ns: http3.idle_timeout_ns,
                stream_window_bytes: http3.stream_window_bytes,
                connection_window_bytes: http3.connection_window_bytes,
                datagram_bytes: http3.datagram_bytes,
                device_bytes_max: None,
                sends_content: sends_content(plan),
                paces: http3.paces,
                request_streams: 0,
            },
        };
        let others = plan.target.others.iter().map(|other| (&other.tls, &other.addresses));
        let (mut origins, mut endpoints) = (Vec::new(), Vec::new());
        for (tls, addresses) in std::iter::once((&plan.tls, &plan.target.addresses)).chain(others) {
            let Some(tls) = tls else {
                let text = "HTTP/3 is spoken over QUIC, which always has TLS: use https:// URLs";
                return Err(PlanError::Invalid(text.to_owned()));
            };
            let shared = Shared::new(tls)?;
            let connector = Connector::new(&shared.config, options)
                .map_err(|error| PlanError::Invalid(error.to_string()))?;
            let number = origins.len() as u16;
            origins.push((connector, tls.server_name.clone()));
            endpoints.extend(addresses.iter().map(|&address| Endpoint {
                origin: number,
                address,
                connector: None,
            }));
        }
        Ok(Some(Self { origins, endpoints: endpoints.into() }))
    }

    /// The requests of a Plan as HTTP/3 has them; `None` if it does not speak it.
    ///
    /// # Errors
    /// When one of them cannot be sent over HTTP/3.
    pub fn requests(plan: &Plan) -> Result<Option<Arc<RequestSet>>, PlanError> {
        if plan.http3.is_none() {
            return Ok(None);
        }
        Ok(Some(Arc::new(RequestSet::of(plan.requests_of_streams()?))))
    }

    /// How to connect to an endpoint of this number, its address, and the name to ask for. The network device toward it takes
    /// datagrams of so many bytes, as far as that is known: it is asked once.
    pub fn endpoint(
        &mut self,
        endpoint: u16,
        device_bytes_max: impl FnOnce() -> Option<u16>,
    ) -> (&Connector, SocketAddr, &str) {
        let Endpoint { origin, address, connector } = &mut self.endpoints[usize::from(endpoint)];
        let (of_origin, server_name) = &self.origins[usize::from(*origin)];
        let connector =
            connector.get_or_insert_with(|| of_origin.through_device(device_bytes_max()));
        (connector, *address, server_name)
    }
}
