//! The login: the server's greeting, encryption, and the authentication that the server asks for.
//!
//! The password itself is sent over TLS and unix sockets only. If a server on plain TCP asks for it
//! (`caching_sha2_password` does once after each start) the login fails: an impostor could decrypt a
//! password that was encrypted with a key that the server sent.

use super::packets::{Packets, unreadable};
use crate::dsn::{Address, MysqlTarget, Secret, sanitize};
use crate::net::failure::Failure;
use crate::net::pause::Moment;
use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;
use rustls::ClientConfig;
use std::collections::HashMap;
use std::sync::Arc;

/// The longest packet that the server may send; part of the login.
const MAX_PACKET: u32 = 1 << 24;
const UTF8MB4: u8 = 45;
/// The capabilities that are used where the server has them.
const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    // An UPDATE reports the rows that it finds, not those that it changes.
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);
/// The most packets of a login: more than any authentication needs.
const MAX_STEPS: usize = 8;

/// What keeps others from reading what is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Privacy {
    None,
    UnixSocket,
    Tls,
}

/// Logs in on a new connection. Returns whether the server is a MariaDB.
pub fn log_in(
    packets: &mut Packets,
    target: &MysqlTarget,
    tls: Option<&Arc<ClientConfig>>,
    deadline: Moment,
) -> Result<bool, Failure> {
    let greeting = packets.receive(deadline)?;
    let greeting: HandshakePacket<'_> = ParseBuf(&greeting).parse(()).map_err(|_| unreadable())?;
    packets.capabilities = WANTED & greeting.capabilities();
    packets.capabilities.set(CapabilityFlags::CLIENT_SSL, tls.is_some());
    let required = CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_SECURE_CONNECTION;
    if !packets.capabilities.contains(required) {
        return Err(Failure::Down("it is older than MariaDB 10.5 or MySQL 8".to_owned()));
    }
    if let Some(config) = tls {
        if !greeting.capabilities().contains(CapabilityFlags::CLIENT_SSL) {
            return Err(Failure::Down("it offers no TLS".to_owned()));
        }
        let mut request = Vec::new();
        SslRequest::new(packets.capabilities, MAX_PACKET, UTF8MB4).serialize(&mut request);
        packets.send(&request, deadline)?;
        packets.encrypt(&target.address, config, deadline)?;
    }
    let Secret(password) = &target.password;
    let privacy = match (&target.address, tls) {
        (Address::Unix(_), _) => Privacy::UnixSocket,
        (_, Some(_)) => Privacy::Tls,
        _ => Privacy::None,
    };
    // The greeting names the server's default. If the user has another plugin, a switch request follows.
    let plugin = match greeting.auth_plugin() {
        Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
        _ => AuthPlugin::MysqlNativePassword,
    };
    let proof = prove(&plugin, password, &greeting.nonce(), privacy)?;
    let mut response = Vec::new();
    HandshakeResponse::new(
        Some(proof),
        (8, 0, 0),
        Some(target.user.as_bytes()),
        Some(target.database.as_bytes()),
        Some(plugin),
        packets.capabilities,
        // Shows in a list of sessions that this one is ours.
        Some(HashMap::from([("program_name".to_owned(), "token_bucket".to_owned())])),
        MAX_PACKET,
    )
    .serialize(&mut response);
    packets.send(&response, deadline)?;
    for _ in 0..MAX_STEPS {
        let packet = packets.receive(deadline)?;
        match packet.split_first() {
            Some((0x00, _)) => {
                return Ok(greeting.server_version_str().contains("MariaDB"));
            }
            // `caching_sha2_password`: the server accepts the proof (3), or asks for the password (4).
            Some((0x01, [3])) => {}
            Some((0x01, [4])) if privacy == Privacy::None => return Err(needs_encryption()),
            Some((0x01, [4])) => packets.send(&in_clear(password), deadline)?,
            Some((0xFE, _)) => {
                let request: AuthSwitchRequest<'_> =
                    ParseBuf(&packet).parse(()).map_err(|_| unreadable())?;
                let nonce = request.plugin_data();
                let proof = prove(&request.auth_plugin(), password, nonce, privacy)?;
                packets.send(&proof, deadline)?;
            }
            _ => return Err(unreadable()),
        }
    }
    Err(unreadable())
}

/// Makes the proof that the client knows the password.
fn prove(
    plugin: &AuthPlugin<'_>,
    password: &str,
    nonce: &[u8],
    privacy: Privacy,
) -> Result<Vec<u8>, Failure> {
    let bytes = password.as_bytes();
    let nonce = nonce.strip_suffix(&[0]).unwrap_or(nonce);
    match plugin {
        AuthPlugin::MysqlNativePassword => {
            Ok(scramble_native(nonce, bytes).map(Vec::from).unwrap_or_default())
        }
        AuthPlugin::CachingSha2Password => {
            let nonce = nonce.try_into().map_err(|_| unreadable())?;
            Ok(scramble_sha256(nonce, bytes).map(Vec::from).unwrap_or_default())
        }
        AuthPlugin::Sha256Password if privacy == Privacy::Tls => Ok(in_clear(password)),
        AuthPlugin::Sha256Password if privacy == Privacy::None => Err(needs_encryption()),
        other => Err(Failure::Down(format!(
            "the user must log in by {:?}; only mysql_native_password and caching_sha2_password are supported",
            sanitize(&String::from_utf8_lossy(other.as_bytes()))
        ))),
    }
}

fn in_clear(password: &str) -> Vec<u8> {
    [password.as_bytes(), b"\0"].concat()
}

fn needs_encryption() -> Failure {
    Failure::Down(
        "it wants the password itself, which is sent over TLS or a unix socket only: the user or the \
         password is wrong, or \"tls=1\" or \"ca=\" must be added to the storage DSN"
            .to_owned(),
    )
}
