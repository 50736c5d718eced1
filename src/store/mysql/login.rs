//! Logging in: the server's greeting, encryption, and the password in the way that the server asks for.
//!
//! The password itself is sent over TLS and unix sockets only. Where a server on plain TCP asks for it
//! (`caching_sha2_password`, once after it has started) the login fails: to encrypt it by a key that the
//! server sends would show it to an impostor.

use super::packets::{Packets, unreadable};
use crate::dsn::{Address, Mysql, Secret, sanitize};
use crate::store::net::failure::Failure;
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
use std::time::Instant;

/// The longest packet that the server may send, as the login says it.
const MAX_PACKET: u32 = 1 << 24;
const UTF8MB4: u8 = 45;
/// What the connection needs of the protocol, where the server knows it.
const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    // An UPDATE counts the rows that it finds, not those that it changes.
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);
/// More packets than any way of logging in takes.
const MAX_STEPS: usize = 8;

/// How what is sent is kept from others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Privacy {
    None,
    UnixSocket,
    Tls,
}

/// Logs in on a connection that has just been made. Returns whether the server is a MariaDB.
pub fn log_in(
    packets: &mut Packets,
    target: &Mysql,
    tls: Option<&Arc<ClientConfig>>,
    deadline: Instant,
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
    // What the greeting proposes is the server's default. The user's own way comes later.
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
        // An operator who lists the sessions sees whose this is.
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
            // `caching_sha2_password`: the server knows the proof, or it wants the password.
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

/// What proves to the server that the client knows the password.
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
            "it wants the user to log in by {:?}; mysql_native_password and caching_sha2_password \
             are known",
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
