//! From the options of `ablaze serve` to a spec, field by field. Nothing here depends on the machine, but that files
//! which are sent as bodies are read.

use ablaze_model::spec::ModelSpec;
use ablaze_model::spec::server::{
    FibersSpec, ResponsesSpec, ServedConnectionsSpec, ServedTlsSpec, TroubleSpec,
};

use super::command_line::{
    CommandLine, ConnectionOptions, FiberOptions, ModelOptions, ProcessOptions, ResponseOptions,
    TroubleOptions,
};
use super::tls::TlsArguments;

/// What these options ask for, and what they say beside it: where to listen, and of the process.
pub fn of(line: CommandLine) -> (ModelSpec, Option<String>, ProcessOptions) {
    // Without `..`, here and below: an option that reaches no field must not compile.
    let CommandLine { address, model, fibers, responses, connections, tls, trouble, process } =
        line;
    let ModelOptions { model, accept, threads, cpus, like } = model;
    let spec = ModelSpec {
        like,
        model: model.map(|model| model.name().to_owned()),
        accept,
        threads,
        cpus: cpus.map(|cpus| cpus.0).unwrap_or_default(),
        fibers: of_fibers(fibers),
        responses: of_responses(responses),
        connections: of_connections(connections),
        tls: of_tls(tls),
        trouble: of_trouble(trouble),
        stats: process.stats.clone(),
    };
    (spec, address, process)
}

fn of_fibers(FiberOptions { stack, stack_pool, scheduler, arm }: FiberOptions) -> FibersSpec {
    FibersSpec { stack_bytes: stack, stack_pool, scheduler, arm }
}

fn of_responses(options: ResponseOptions) -> ResponsesSpec {
    let ResponseOptions {
        size,
        status,
        head_bytes,
        routes,
        echo,
        app,
        response,
        server_name,
        max_body,
        work,
        in_service,
        write,
    } = options;
    ResponsesSpec {
        body_bytes: size,
        status,
        head_bytes,
        routes,
        echo,
        app,
        kind: response,
        server_name,
        max_body_bytes: max_body,
        work_ns: work,
        in_service,
        write,
    }
}

fn of_connections(options: ConnectionOptions) -> ServedConnectionsSpec {
    let ConnectionOptions {
        http,
        max_streams,
        retry,
        close,
        keep_alive,
        max_requests,
        read_timeout,
        backlog,
        accept_batch,
        per_accept,
        max_events,
        sndbuf,
        rcvbuf,
        nodelay,
    } = options;
    ServedConnectionsSpec {
        http,
        max_streams,
        retry,
        // The parser has kept the last of the two.
        keep_alive: (close || keep_alive).then_some(keep_alive),
        max_requests,
        read_timeout_ns: read_timeout,
        backlog,
        accept_batch,
        per_accept,
        max_events,
        send_buffer_bytes: sndbuf,
        receive_buffer_bytes: rcvbuf,
        no_delay: nodelay,
    }
}

fn of_tls(arguments: TlsArguments) -> ServedTlsSpec {
    let TlsArguments {
        tls,
        tls_ca_out,
        tls_cert,
        tls_key,
        tls_min,
        tls_max,
        tls_tickets,
        tls_client_ca,
    } = arguments;
    ServedTlsSpec {
        on: tls,
        authority_out: tls_ca_out,
        certificate: tls_cert,
        key: tls_key,
        oldest: tls_min,
        newest: tls_max,
        tickets: tls_tickets,
        client_authorities: tls_client_ca,
    }
}

fn of_trouble(options: TroubleOptions) -> TroubleSpec {
    let TroubleOptions { delay, faults, datagram_loss, seed } = options;
    TroubleSpec { delay, faults, datagram_loss, seed }
}
