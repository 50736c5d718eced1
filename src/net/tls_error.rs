//! Explains TLS failures, and tells the server's faults from those of this process.
//!
//! Whether a certificate is trusted depends on files of this host, which a process may have read long ago:
//! another process may trust the certificate. So such an error concerns this process alone.

use super::failure::{LocalError, sanitize_line};
use rustls::{AlertDescription, CertificateError, Error};
use std::io;

/// Explains an error of the encryption, and says how to repair it. Returns other errors unchanged.
pub fn explain_tls_error(error: io::Error) -> io::Error {
    let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
        return error;
    };
    let (is_local, words) = match tls {
        Error::InvalidCertificate(why) => (true, explain_certificate_error(why)),
        Error::NoCertificatesPresented => (true, "it shows no certificate".to_owned()),
        Error::AlertReceived(alert) => (is_about_ours(*alert), explain_alert(*alert)),
        Error::InvalidMessage(_) => (false, "it does not speak TLS here".to_owned()),
        other => (false, other.to_string()),
    };
    // The words may quote the certificate.
    let words = format!("TLS: {}", sanitize_line(&words));
    match is_local {
        true => io::Error::other(LocalError(words)),
        false => io::Error::new(error.kind(), words),
    }
}

fn explain_certificate_error(why: &CertificateError) -> String {
    let (what, remedy) = match why {
        CertificateError::UnknownIssuer => (
            "its certificate is not signed by an authority that is trusted here".to_owned(),
            "ca= in the storage DSN names an authority to trust",
        ),
        CertificateError::NotValidForName => {
            ("its certificate is for another name".to_owned(), NAME)
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let expected = expected.to_str();
            (format!("its certificate is not for {expected}, but for {}", names(presented)), NAME)
        }
        CertificateError::Expired => ("its certificate has expired".to_owned(), CLOCK),
        CertificateError::ExpiredContext { time, not_after } => {
            let since = time.as_secs().saturating_sub(not_after.as_secs());
            (format!("its certificate expired {since} seconds ago"), CLOCK)
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("its certificate is not valid yet".to_owned(), "set this host's clock right")
        }
        CertificateError::Revoked => ("its certificate was revoked".to_owned(), "renew it"),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => (
            "its certificate is not one for servers".to_owned(),
            "have one signed with the extended key usage serverAuth, or none at all",
        ),
        // rustls has no variants for these.
        CertificateError::Other(other) if other.to_string().contains("UnsupportedCertVersion") => (
            "its certificate is one of X.509 version 1, and version 3 is needed".to_owned(),
            "sign one with extensions, such as the names that it is valid for (openssl x509 -req -extfile)",
        ),
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => (
            "its certificate is that of an authority, as a self-signed one mostly is".to_owned(),
            "sign one for the server by it, with CA:FALSE, and name the authority as ca= in the storage DSN",
        ),
        other => return format!("its certificate cannot be verified: {other:?}"),
    };
    format!("{what}; {remedy}")
}

const NAME: &str = "reach the server by a name that it is valid for, or add this one to it";
const CLOCK: &str = "renew it, or set this host's clock right";

/// The names in a certificate: rustls writes `DnsName("a")` and `IpAddress(::1)`.
fn names(presented: &[String]) -> String {
    let bare = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        inner.unwrap_or(name).trim_matches('"').to_owned()
    };
    match presented {
        [] => "no name".to_owned(),
        names => names.iter().map(bare).collect::<Vec<_>>().join(", "),
    }
}

/// Whether the server rejects the certificate of this process, or asks for one.
const fn is_about_ours(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            // TLS 1.2 has no alert of its own for a missing certificate.
            | AlertDescription::HandshakeFailure
    )
}

fn explain_alert(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => {
            "it wants a certificate; cert= and key= in the storage DSN name one".to_owned()
        }
        alert if is_about_ours(alert) => format!(
            "it does not accept the certificate of this host, or misses one ({alert:?}); cert= and \
             key= in the storage DSN name it"
        ),
        alert => format!("it ended the connection ({alert:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::failure::is_local;
    use rustls::{InvalidMessage, OtherError};
    use std::sync::Arc;

    fn explained(error: Error) -> io::Error {
        explain_tls_error(io::Error::new(io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn untrusted_certificate_is_a_local_error() {
        for why in [CertificateError::UnknownIssuer, CertificateError::BadEncoding] {
            assert!(is_local(&explained(Error::InvalidCertificate(why))));
        }
        assert!(is_local(&explained(Error::AlertReceived(AlertDescription::UnknownCA))));
        assert!(!is_local(&explained(Error::AlertReceived(AlertDescription::InternalError))));
        assert!(!is_local(&explained(Error::InvalidMessage(InvalidMessage::InvalidContentType))));
    }

    #[test]
    fn self_signed_certificate_is_explained() {
        #[derive(Debug, thiserror::Error)]
        #[error("CaUsedAsEndEntity")]
        struct CaUsedAsEndEntity;
        let why = CertificateError::Other(OtherError(Arc::new(CaUsedAsEndEntity)));
        let text = explained(Error::InvalidCertificate(why)).to_string();
        assert!(text.contains("self-signed") && !text.contains("EndEntity"), "{text}");
    }

    #[test]
    fn message_lists_the_names_in_the_certificate() {
        let presented = ["DnsName(\"a.example\")".to_owned(), "IpAddress(127.0.0.2)".to_owned()];
        assert_eq!(names(&presented), "a.example, 127.0.0.2");
        assert_eq!(names(&[]), "no name");
    }
}
