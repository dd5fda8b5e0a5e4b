//! A client of the OpenShell gateway.
