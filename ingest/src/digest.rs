//! Keyed digests: they tell whether bytes are the same, and nothing about the bytes to whoever lacks the key.

use boundlane_record::Fingerprint;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The random key of one state directory.
#[derive(Clone)]
pub struct DigestKey(Hmac<Sha256>);

impl DigestKey {
    /// From the 32 bytes of `digest.key`.
    pub fn new(key: &[u8; 32]) -> DigestKey {
        // Every length is a key for HMAC, so this cannot fail.
        DigestKey(Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default())))
    }

    /// HMAC-SHA-256 of `bytes`.
    pub fn digest(&self, bytes: &[u8]) -> [u8; 32] {
        let mut running = self.running();
        running.update(bytes);
        running.so_far()
    }

    /// The fingerprint of one line as it came.
    pub fn fingerprint(&self, line: &[u8]) -> Fingerprint {
        let digest = self.digest(line);
        let mut short = [0u8; 16];
        short.copy_from_slice(&digest[..16]);
        Fingerprint(short)
    }

    /// A digest that grows.
    pub fn running(&self) -> RunningDigest {
        RunningDigest(self.0.clone())
    }
}

impl std::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DigestKey")
    }
}

/// The keyed digest of all bytes so far.
#[derive(Clone)]
pub struct RunningDigest(Hmac<Sha256>);

impl RunningDigest {
    /// Takes more bytes in.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Takes in this many NULs.
    pub fn update_nuls(&mut self, mut nuls: u64) {
        const BLOCK: [u8; 4096] = [0; 4096];
        while nuls > 0 {
            let length = nuls.min(BLOCK.len() as u64);
            self.0
                .update(&BLOCK[..usize::try_from(length).unwrap_or(BLOCK.len())]);
            nuls -= length;
        }
    }

    /// The digest of what was taken in until now.
    pub fn so_far(&self) -> [u8; 32] {
        self.0.clone().finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for RunningDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RunningDigest")
    }
}
