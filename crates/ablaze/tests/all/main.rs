//! The built command from the outside, all in one program, so that it is linked once. What needs the machine for
//! itself is in `alone`.

mod ab;
mod authority;
mod beside_hurl;
mod causes;
mod command;
mod conformance;
mod e2e;
mod experiments;
mod guides;
mod gurl;
mod hostile;
mod hostile_http2;
mod hostile_http3;
mod replay;
mod serve_and_demo;
mod serving;
mod tls;
mod web;
