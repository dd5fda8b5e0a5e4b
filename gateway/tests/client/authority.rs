//! Certificates, made for one test.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boundlane_gateway::ClientFiles;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its key, PEM.
pub(super) struct Certified {
    pub(super) crt: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new(name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Authority {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    pub(super) fn server(&self) -> Certified {
        self.server_named(&["localhost", "127.0.0.1"])
    }

    pub(super) fn server_named(&self, names: &[&str]) -> Certified {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.certify(names, ExtendedKeyUsagePurpose::ServerAuth)
    }

    fn certify(&self, names: Vec<String>, usage: ExtendedKeyUsagePurpose) -> Certified {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![usage];
        let crt = params.signed_by(&key, &self.issuer).unwrap().pem();
        Certified {
            crt,
            key: key.serialize_pem(),
        }
    }

    pub(super) fn ca_file(&self, dir: &Path) -> PathBuf {
        let path = dir.join("ca.crt");
        std::fs::write(&path, &self.pem).unwrap();
        path
    }

    /// The files of a client that trusts this authority and is certified by it.
    pub(super) fn client_files(&self, dir: &Path) -> ClientFiles {
        let client = self.certify(vec!["user".to_owned()], ExtendedKeyUsagePurpose::ClientAuth);
        let files = ClientFiles {
            ca: self.ca_file(dir),
            crt: dir.join("tls.crt"),
            key: dir.join("tls.key"),
        };
        std::fs::write(&files.crt, client.crt).unwrap();
        std::fs::write(&files.key, client.key).unwrap();
        files
    }

    /// A server that wants certificates of `clients`, or none.
    pub(super) fn server_config(server: &Certified, clients: Option<&Authority>) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(der(&authority.pem)).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let key = PrivateKeyDer::from_pem_slice(server.key.as_bytes()).unwrap();
        let mut config = builder
            .with_single_cert(vec![der(&server.crt)], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        config
    }
}

pub(super) fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}
