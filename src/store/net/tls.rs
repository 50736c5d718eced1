//! Encryption: rustls with ring, TLS 1.2 and 1.3. The server is always verified.

use super::failure::Failure;
use crate::dsn::Tls;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

/// What the connections of a store need for encryption: read when the first of them does.
#[derive(Default)]
pub struct Encryption(OnceCell<Arc<ClientConfig>>);

impl Encryption {
    /// What `tls` asks for, if it asks for encryption at all.
    ///
    /// # Errors
    ///
    /// [`Failure::Local`] naming the file that cannot be read or holds nothing of use.
    pub fn of(&self, tls: Option<&Tls>) -> Result<Option<&Arc<ClientConfig>>, Failure> {
        let Some(tls) = tls else { return Ok(None) };
        if let Some(config) = self.0.get() {
            return Ok(Some(config));
        }
        let config = configure(tls)?;
        Ok(Some(self.0.get_or_init(|| config)))
    }
}

/// Reads the certificates, and makes what every connection of a store needs.
///
/// # Errors
///
/// [`Failure::Local`] naming the file that cannot be read or holds nothing of use.
fn configure(tls: &Tls) -> Result<Arc<ClientConfig>, Failure> {
    let mut roots = RootCertStore::empty();
    match &tls.ca {
        Some(path) => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|error| unusable(path, &error.to_string()))?;
            }
        }
        // Some of the system's may be of a kind that is not known; the others serve.
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::Local(format!("TLS cannot be used: {error}")))?
        .with_root_certificates(roots);
    let config = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => builder
            .with_client_auth_cert(certificates(cert)?, private_key(key)?)
            .map_err(|error| unusable(cert, &error.to_string()))?,
        _ => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(unusable(path, "it holds no certificate")),
        other => other.map_err(|error| unreadable(path, error)),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Failure> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: pem::Error) -> Failure {
    match error {
        pem::Error::Io(error) => unusable(path, &error.to_string()),
        pem::Error::NoItemsFound => unusable(path, "it holds nothing of the kind"),
        // What else it has to say may quote the file, which may be a private key.
        _ => unusable(path, "it is not a PEM file"),
    }
}

fn unusable(path: &Path, why: &str) -> Failure {
    Failure::Local(format!("the TLS file {} cannot be used: {why}", path.display()))
}
