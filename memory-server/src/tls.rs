//! Encryption of what is sent, by a certificate that is read again when it was renewed.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(60);

/// A certificate and its key, in two files of PEM. They are read again within a minute after they were renewed.
#[derive(Clone)]
pub struct Certificate {
    files: [PathBuf; 2],
    config: RustlsConfig,
    /// When the files were written that were read.
    written: [Option<SystemTime>; 2],
}

impl Certificate {
    /// Reads a certificate, followed in the file by its chain, and its key.
    ///
    /// # Errors
    /// A file cannot be read or holds no PEM, or the key is that of another certificate.
    pub async fn read(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> io::Result<Self> {
        let files = [certificate.into(), key.into()];
        // First the times: what is written meanwhile is newer than they are.
        let written = written(&files);
        let config = read(&files).await?;
        Ok(Self { files, config, written })
    }

    /// Returns what encrypts. A client has so long to agree with it.
    pub(crate) fn acceptor(&self, patience: Duration) -> RustlsAcceptor<NoDelayAcceptor> {
        RustlsAcceptor::new(self.config.clone()).handshake_timeout(patience).acceptor(NoDelayAcceptor::new())
    }

    /// Looks at the files again and again.
    pub(crate) async fn renew(self) {
        let mut known = self.written;
        loop {
            tokio::time::sleep(LOOK).await;
            self.look(&mut known).await;
        }
    }

    /// Takes the files if they have changed. While they cannot be used, the certificate before them stays.
    async fn look(&self, known: &mut [Option<SystemTime>; 2]) {
        let now = written(&self.files);
        if now == *known {
            return;
        }
        match read(&self.files).await {
            Ok(config) => {
                self.config.reload_from_config(config.get_inner());
                *known = now;
                tracing::info!("took the renewed certificate");
            }
            Err(error) => tracing::warn!(%error, "the renewed certificate cannot be used"),
        }
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("files", &self.files).finish_non_exhaustive()
    }
}

fn written(files: &[PathBuf; 2]) -> [Option<SystemTime>; 2] {
    files.each_ref().map(|file| file.metadata().and_then(|of| of.modified()).ok())
}

async fn read([certificate, key]: &[PathBuf; 2]) -> io::Result<RustlsConfig> {
    let read = RustlsConfig::from_pem_file(certificate, key).await?;
    let mut config = Arc::unwrap_or_clone(read.get_inner());
    // The server speaks nothing else.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(RustlsConfig::from_config(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a new certificate and its key.
    fn renew(files: &[PathBuf; 2]) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(&files[0], made.cert.pem()).unwrap();
        std::fs::write(&files[1], made.signing_key.serialize_pem()).unwrap();
    }

    #[tokio::test]
    async fn a_renewed_certificate_is_taken_and_one_that_cannot_be_used_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["certificate.pem", "key.pem"].map(|name| folder.path().join(name));
        renew(&files);
        let certificate = Certificate::read(&files[0], &files[1]).await.unwrap();
        let (mut known, first) = (certificate.written, certificate.config.get_inner());
        certificate.look(&mut known).await;
        assert!(Arc::ptr_eq(&first, &certificate.config.get_inner()), "nothing has changed");
        known = [None; 2];
        let whole = std::fs::read(&files[0]).unwrap();
        for broken in [&b""[..], b"no PEM", &whole[..whole.len() / 2]] {
            std::fs::write(&files[0], broken).unwrap();
            certificate.look(&mut known).await;
            assert!(Arc::ptr_eq(&first, &certificate.config.get_inner()), "{broken:?}");
        }
        renew(&files);
        certificate.look(&mut known).await;
        assert!(!Arc::ptr_eq(&first, &certificate.config.get_inner()));
        assert_eq!(known, written(&files));
        // The key of another certificate.
        let key = std::fs::read(&files[1]).unwrap();
        renew(&files);
        std::fs::write(&files[1], key).unwrap();
        assert!(Certificate::read(&files[0], &files[1]).await.is_err());
        assert!(!format!("{certificate:?}").contains("PRIVATE"));
    }
}
