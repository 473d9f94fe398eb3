//! The values of a spec as the server's own: the same words in two crates, of which one is data that is saved and the
//! other a library for servers.

use std::time::Duration;

use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::spec::server::values::{
    AcceptBatch, AcceptMode, App, Arm, Delay, Fault, FaultShare, PerAccept, ResponseKind,
    Scheduler, Share, WriteMode,
};
use ablaze_model::spec::server::{FibersSpec, RouteSpec, ServedConnectionsSpec};
use ablaze_model::spec::{BlobError, Body};
use ablaze_target::options::ShopOptions;
use ablaze_target::{accepting, conditions, options, tls};

/// A spec's value as the server is told it.
pub trait Told {
    /// The server's own type.
    type As;

    /// The same in that type.
    fn told(&self) -> Self::As;
}

/// Two enums whose variants have the same names.
macro_rules! same_names {
    ($($spec:ident as $own:ty { $($variant:ident)+ })+) => {
        $(impl Told for $spec {
            type As = $own;

            fn told(&self) -> $own {
                match self {
                    $(Self::$variant => <$own>::$variant,)+
                }
            }
        })+
    };
}

same_names! {
    AcceptMode as accepting::AcceptMode { Single Shared Exclusive ReusePort }
    Scheduler as conditions::Scheduler { PerThread Shared }
    Arm as conditions::Arm { Persistent PerWait }
    ResponseKind as conditions::ResponseKind { Http Echo None }
    WriteMode as conditions::WriteMode { Whole Split }
    AcceptBatch as conditions::AcceptBatch { One Drain }
    PerAccept as conditions::PerAccept { Nothing Sylar }
    Fault as conditions::Fault {
        ResetBefore ResetDuring ResetAfter CloseUnanswered ShortBody WrongLength Garbage Trickle
    }
}

impl Told for TlsVersion {
    type As = tls::TlsVersion;

    fn told(&self) -> tls::TlsVersion {
        match self {
            Self::V1_2 => tls::TlsVersion::Tls12,
            Self::V1_3 => tls::TlsVersion::Tls13,
        }
    }
}

impl Told for Delay {
    type As = conditions::Delay;

    fn told(&self) -> conditions::Delay {
        let time = Duration::from_nanos;
        match *self {
            Self::Constant(ns) => conditions::Delay::Constant(time(ns)),
            Self::Uniform(least, most) => conditions::Delay::Uniform(time(least), time(most)),
            Self::Exponential(mean) => conditions::Delay::Exponential(time(mean)),
            Self::Bimodal(mostly, sometimes, share) => {
                conditions::Delay::Bimodal(time(mostly), time(sometimes), share.get())
            }
            Self::Stall(length, period) => conditions::Delay::Stall(time(length), time(period)),
        }
    }
}

impl Told for App {
    type As = options::App;

    fn told(&self) -> options::App {
        let Self::Shop { not_found, failing } = *self;
        let share = |share: Option<Share>| share.map_or(0.0, Share::get);
        options::App::Shop(ShopOptions { not_found: share(not_found), failing: share(failing) })
    }
}

impl Told for FaultShare {
    type As = conditions::FaultShare;

    fn told(&self) -> conditions::FaultShare {
        conditions::FaultShare { fault: self.fault.told(), share: self.share.get() }
    }
}

/// A route with the bytes of its body.
///
/// # Errors
/// When these are not here.
pub fn route(route: &RouteSpec) -> Result<conditions::Route, BlobError> {
    let body = match &route.body {
        Body::Given(bytes) => bytes.0.clone(),
        Body::File(file) => file.bytes()?.to_vec(),
    };
    Ok(conditions::Route { path: route.path.clone(), status: route.status, body })
}

/// Options of sockets.
pub fn sockets(connections: &ServedConnectionsSpec) -> conditions::SocketOptions {
    let own = conditions::SocketOptions::default();
    conditions::SocketOptions {
        send_buffer_bytes: connections.send_buffer_bytes.or(own.send_buffer_bytes),
        receive_buffer_bytes: connections.receive_buffer_bytes.or(own.receive_buffer_bytes),
        no_delay: connections.no_delay.unwrap_or(own.no_delay),
    }
}

/// How fibers are kept and scheduled.
pub fn fibers(fibers: &FibersSpec) -> conditions::FiberOptions {
    let own = conditions::FiberOptions::default();
    conditions::FiberOptions {
        stack_bytes: fibers.stack_bytes.map_or(own.stack_bytes, |bytes| bytes as usize),
        stack_pool: fibers.stack_pool.map_or(own.stack_pool, |stacks| stacks as usize),
        scheduler: fibers.scheduler.map_or(own.scheduler, |scheduler| scheduler.told()),
        arm: fibers.arm.map_or(own.arm, |arm| arm.told()),
    }
}
