//! Messages, server and client of the gateway's interface in both generations, compiled from
//! `tests/proto`: written by hand from what the released wheels put on the wire, and not from what the
//! program under test reads.

#![allow(
    missing_docs,
    unused_qualifications,
    clippy::all,
    clippy::too_many_lines,
    clippy::semicolon_if_nothing_returned,
    clippy::wildcard_imports,
    reason = "generated"
)]

/// Up to 0.0.116.
pub mod old {
    pub mod openshell {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/old/openshell.v1.rs"));
        }
        pub mod datamodel {
            pub mod v1 {
                include!(concat!(env!("OUT_DIR"), "/old/openshell.datamodel.v1.rs"));
            }
        }
    }
}

/// 0.1.0 and later.
pub mod new {
    pub mod openshell {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/new/openshell.v1.rs"));
        }
        pub mod datamodel {
            pub mod v1 {
                include!(concat!(env!("OUT_DIR"), "/new/openshell.datamodel.v1.rs"));
            }
        }
    }
}
