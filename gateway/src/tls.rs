//! Who the other side is, by its certificate.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};
use sha2::{Digest as _, Sha256};
use tonic::transport::{ClientTlsConfig, Endpoint, Identity};

use crate::error::GatewayError;
use crate::shared::{lock, read_file};
use crate::{ClientFiles, Target};

pub(crate) struct Tls {
    config: ClientTlsConfig,
    witness: Arc<Witness>,
}

impl Tls {
    /// Reads the certificates; `None` for a gateway without TLS.
    pub(crate) fn new(target: &Target) -> Result<Option<Tls>, GatewayError> {
        if !target.endpoint.starts_with("https://") {
            return Ok(None);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust = match target.skip_verification {
            true => None,
            false => Some(trust(target, &provider)?),
        };
        let config = ClientTlsConfig::new();
        let config = match target.auth.client() {
            Some(files) => config.identity(identity(files)?),
            None => config,
        };
        let witness = Arc::new(Witness {
            trust,
            provider,
            seen: Mutex::new(None),
        });
        Ok(Some(Tls { config, witness }))
    }

    pub(crate) fn apply(&self, endpoint: Endpoint) -> Result<Endpoint, tonic::transport::Error> {
        endpoint.tls_config_with_verifier(self.config.clone(), self.witness.clone())
    }

    /// SHA-256 of the certificate that was taken last.
    pub(crate) fn seen(&self) -> Option<String> {
        lock(&self.witness.seen).clone()
    }
}

/// The gateway's own certificate authority, or those of the system.
fn trust(
    target: &Target,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, GatewayError> {
    let (what, roots) = match target.auth.ca() {
        Some(path) => (format!("`{}`", path.display()), own_roots(path)?),
        None => ("the system's certificate store".to_owned(), system_roots()),
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| GatewayError::Unusable {
            what,
            why: error.to_string(),
        })
}

fn own_roots(path: &Path) -> Result<RootCertStore, GatewayError> {
    let text = read_file(path).map_err(|why| unusable(path, why))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        let certificate = certificate.map_err(|error| unusable(path, error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| unusable(path, error.to_string()))?;
    }
    match roots.is_empty() {
        true => Err(unusable(path, "it holds no certificate".to_owned())),
        false => Ok(roots),
    }
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn identity(files: &ClientFiles) -> Result<Identity, GatewayError> {
    let crt = read_file(&files.crt).map_err(|why| unusable(&files.crt, why))?;
    let key = read_file(&files.key).map_err(|why| unusable(&files.key, why))?;
    Ok(Identity::from_pem(crt, key))
}

fn unusable(path: &Path, why: String) -> GatewayError {
    GatewayError::Unusable {
        what: format!("`{}`", path.display()),
        why,
    }
}

/// Verifies as usual, and keeps the hash of the certificate that passed.
#[derive(Debug)]
struct Witness {
    /// `None` takes any certificate; its holder must have the key all the same.
    trust: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
    seen: Mutex<Option<String>>,
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(trust) = &self.trust {
            trust.verify_server_cert(certificate, intermediates, name, ocsp, now)?;
        }
        *lock(&self.seen) = Some(hex(&Sha256::digest(certificate)));
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
