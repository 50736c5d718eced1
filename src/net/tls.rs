//! The configuration of encryption: rustls with ring, TLS 1.2 and 1.3. The server is always verified.

use super::failure::Failure;
use crate::clock::boot_time;
use crate::dsn::{Tls, printable_path};
use crate::limit::SECOND;
use crate::regular_file;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::cell::{Cell, RefCell};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often the files are checked for changes, at most.
const CHECK_EVERY: u64 = SECOND;

/// The TLS configuration of a store. It is read for the first connection, and again when the files have
/// changed or a certificate was not accepted.
#[derive(Default)]
pub struct Encryption {
    loaded: RefCell<Option<Loaded>>,
    /// Whether a certificate was not accepted since the files were read.
    is_suspect: Cell<bool>,
}

struct Loaded {
    config: Arc<ClientConfig>,
    /// The versions of the files, from before they were read.
    files: Vec<Option<FileVersion>>,
    /// When to check the files again, by this host's clock.
    check_at: u64,
}

/// Tells the versions of a file apart: device, inode, size, and the times of its last changes.
type FileVersion = (u64, u64, u64, [i64; 4]);

impl Encryption {
    /// The configuration for `tls`. None if there is no encryption.
    ///
    /// # Errors
    ///
    /// [`Failure::Local`] naming the file that cannot be read or holds nothing of use.
    pub fn config_for(&self, tls: Option<&Tls>) -> Result<Option<Arc<ClientConfig>>, Failure> {
        let Some(tls) = tls else { return Ok(None) };
        let mut loaded = self.loaded.borrow_mut();
        let now = boot_time();
        if let Some(known) = loaded.as_ref().filter(|known| now < known.check_at) {
            return Ok(Some(Arc::clone(&known.config)));
        }
        let (files, check_at) = (versions(tls), now + CHECK_EVERY);
        if let Some(known) = loaded.as_mut() {
            known.check_at = check_at;
            if files == known.files && !self.is_suspect.get() {
                return Ok(Some(Arc::clone(&known.config)));
            }
        }
        match (configure(tls), loaded.as_ref()) {
            (Ok(config), _) => {
                self.is_suspect.set(false);
                *loaded = Some(Loaded { config: Arc::clone(&config), files, check_at });
                Ok(Some(config))
            }
            // The files may be replaced one after the other at this moment: the old configuration still
            // works.
            (Err(_), Some(known)) => Ok(Some(Arc::clone(&known.config))),
            (Err(failure), _) => Err(failure),
        }
    }

    /// Notes that a connection has failed. If a certificate was not accepted, those of this host may have been renewed since
    /// they were read. A server that is down is no reason to read all of the system's authorities again, each second.
    pub fn note_failure(&self, failure: &Failure) {
        if matches!(failure, Failure::Local(_)) {
            self.is_suspect.set(true);
        }
    }
}

fn versions(tls: &Tls) -> Vec<Option<FileVersion>> {
    let version = |path: &PathBuf| {
        let file = std::fs::metadata(path).ok()?;
        let times = [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()];
        Some((file.dev(), file.ino(), file.size(), times))
    };
    [&tls.ca, &tls.cert, &tls.key].into_iter().flatten().map(version).collect()
}

/// Reads the certificates and makes a configuration.
fn configure(tls: &Tls) -> Result<Arc<ClientConfig>, Failure> {
    let mut roots = RootCertStore::empty();
    match &tls.ca {
        Some(path) => {
            for certificate in certificates(tls, path)? {
                roots.add(certificate).map_err(|error| unusable(path, &error.to_string()))?;
            }
        }
        // Ignores those certificates of the system that rustls cannot parse.
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
            .with_client_auth_cert(certificates(tls, cert)?, private_key(tls, key)?)
            .map_err(|error| unusable(cert, &error.to_string()))?,
        _ => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn certificates(tls: &Tls, path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let text = read(tls, path)?;
    match CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>() {
        Ok(found) if found.is_empty() => Err(unusable(path, "it has no certificate")),
        other => other.map_err(|error| unreadable(path, &error)),
    }
}

fn private_key(tls: &Tls, path: &Path) -> Result<PrivateKeyDer<'static>, Failure> {
    PrivateKeyDer::from_pem_slice(&read(tls, path)?).map_err(|error| unreadable(path, &error))
}

fn read(tls: &Tls, path: &Path) -> Result<Vec<u8>, Failure> {
    /// The largest file that is read, in MiB.
    const MAX_SIZE: u64 = 1;
    let file = match tls.refuses_links {
        true => regular_file::open_without_links(path),
        false => regular_file::open(path).map(|(file, _)| file),
    };
    let text = file.and_then(|mut file| regular_file::read(&mut file, MAX_SIZE));
    text.map_err(|reason| unusable(path, &reason))
}

fn unreadable(path: &Path, error: &pem::Error) -> Failure {
    match error {
        pem::Error::NoItemsFound => unusable(path, "it has no PEM block of the expected kind"),
        // Other errors may quote the file, which may be a private key.
        _ => unusable(path, "it is not a PEM file"),
    }
}

fn unusable(path: &Path, why: &str) -> Failure {
    Failure::Local(format!("the TLS file {} cannot be used: {why}", printable_path(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn file_that_is_not_regular_or_too_large_is_refused_at_once() {
        let folder = std::env::temp_dir().join(format!("token_bucket-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (fifo, large) = (folder.join("fifo.pem"), folder.join("large.pem"));
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::fs::File::create(&large).unwrap().set_len((1 << 20) + 1).unwrap();
        let good = PathBuf::from("tests/localhost.pem");
        for (path, expected) in [
            (&fifo, "must be a regular file"),
            (&PathBuf::from("/dev/zero"), "must be a regular file"),
            (&folder, "must be a regular file"),
            (&large, "must be at most 1 MiB"),
            (&folder.join("none.pem"), "No such file"),
        ] {
            let (path, good) = (Some(path.clone()), Some(good.clone()));
            for tls in [
                Tls { ca: path.clone(), ..Tls::default() },
                Tls { cert: path.clone(), key: good.clone(), ca: good.clone(), ..Tls::default() },
                Tls { key: path.clone(), cert: good.clone(), ca: good.clone(), ..Tls::default() },
            ] {
                let Err(Failure::Local(message)) = configure(&tls) else { panic!("{expected}") };
                assert!(message.contains(expected), "{message}");
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn files_are_read_again_after_a_certificate_was_not_accepted_and_not_while_a_server_is_down() {
        let tls = Tls { ca: Some("tests/localhost.pem".into()), ..Tls::default() };
        let encryption = Encryption::default();
        let config = |failure: Option<Failure>| {
            failure.inspect(|failure| encryption.note_failure(failure));
            // The second has passed.
            encryption.loaded.borrow_mut().iter_mut().for_each(|loaded| loaded.check_at = 0);
            encryption.config_for(Some(&tls)).unwrap().unwrap()
        };
        let first = config(None);
        assert!(Arc::ptr_eq(&first, &config(Some(Failure::Down("refused".to_owned())))));
        let second = config(Some(Failure::Local("TLS: not trusted".to_owned())));
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &config(None)));
    }
}
