//! Logging in: the server's greeting, encryption, the password in the way the server wants it.

use super::link::{Link, garbled};
use crate::dsn::{Address, Mysql};
use crate::store::net::failure::Failure;
use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
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

/// The longest packet we may be sent.
const LONGEST: u32 = 1 << 24;
const UTF8MB4: u8 = 45;

/// Logs in on a connection that has just been made.
pub fn log_in(
    link: &mut Link,
    target: &Mysql,
    tls: Option<&Arc<ClientConfig>>,
    deadline: Instant,
) -> Result<(), Failure> {
    let greeting = link.receive(deadline)?;
    let greeting: HandshakePacket<'_> = ParseBuf(&greeting).parse(()).map_err(|_| garbled())?;
    link.returning = greeting.server_version_str().contains("MariaDB");
    link.capabilities = wanted(tls.is_some()) & greeting.capabilities();
    let required = CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_SECURE_CONNECTION;
    if !link.capabilities.contains(required) {
        return Err(Failure::Down("it is older than MariaDB 10.5 or MySQL 8".to_owned()));
    }
    if let Some(config) = tls {
        if !link.capabilities.contains(CapabilityFlags::CLIENT_SSL) {
            return Err(Failure::Down("it offers no TLS".to_owned()));
        }
        let mut request = Vec::new();
        SslRequest::new(link.capabilities, LONGEST, UTF8MB4).serialize(&mut request);
        link.send(&request, deadline)?;
        // What has come in the clear beyond the greeting would else be taken for what the server says.
        if link.has_more() {
            return Err(garbled());
        }
        link.channel
            .encrypt(&target.address, config, deadline)
            .map_err(|error| Failure::of_connecting(&error))?;
    }
    let nonce = greeting.nonce();
    let who = Who {
        password: target.password.0.as_bytes(),
        nonce: &nonce,
        socket: matches!(target.address, Address::Unix(_)),
        tls: tls.is_some(),
    };
    // What it proposes is its default; the user's own way it tells later.
    let plugin = match greeting.auth_plugin() {
        Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
        _ => AuthPlugin::MysqlNativePassword,
    };
    let mut dialog = Dialog::of(&plugin, &who)?;
    let proof = dialog.answer(&nonce)?.unwrap_or_default();
    let mut response = Vec::new();
    HandshakeResponse::new(
        Some(proof),
        (8, 0, 0),
        Some(target.user.as_bytes()),
        Some(target.database.as_bytes()),
        Some(plugin),
        link.capabilities,
        // Who looks at the sessions shall know us.
        Some(HashMap::from([("program_name".to_owned(), "token_bucket".to_owned())])),
        LONGEST,
    )
    .serialize(&mut response);
    link.send(&response, deadline)?;
    converse(link, dialog, &who, deadline)
}

fn wanted(tls: bool) -> CapabilityFlags {
    let mut wanted = CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_CONNECT_ATTRS
        | CapabilityFlags::CLIENT_DEPRECATE_EOF;
    wanted.set(CapabilityFlags::CLIENT_SSL, tls);
    wanted
}

/// Answers what the server asks, until it is content.
fn converse<'a>(
    link: &mut Link,
    mut dialog: Dialog<'a>,
    who: &'a Who<'a>,
    deadline: Instant,
) -> Result<(), Failure> {
    // More than any way of logging in takes; a server must not keep us talking.
    for _ in 0..8 {
        let packet = link.receive(deadline)?;
        let answer = match packet.split_first() {
            Some((0x00, _)) => return Ok(()),
            Some((0x01, challenge)) => dialog.answer(challenge)?,
            Some((0xFE, _)) => {
                let request: AuthSwitchRequest<'_> =
                    ParseBuf(&packet).parse(()).map_err(|_| garbled())?;
                dialog = Dialog::of(&request.auth_plugin(), who)?;
                dialog.answer(request.plugin_data())?
            }
            _ => return Err(garbled()),
        };
        if let Some(answer) = answer {
            link.send(&answer, deadline)?;
        }
    }
    Err(garbled())
}

/// One way of showing the password, on its way.
struct Dialog<'a> {
    steps: AuthProc,
    who: &'a Who<'a>,
}

impl<'a> Dialog<'a> {
    /// Only ways that give the password away to nobody: it is sent as it is over a connection that
    /// is encrypted or stays on this host, else never.
    fn of(plugin: &AuthPlugin<'_>, who: &'a Who<'a>) -> Result<Self, Failure> {
        match plugin {
            AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password => {}
            AuthPlugin::Sha256Password if who.is_secret() => {}
            other => {
                let name = String::from_utf8_lossy(other.as_bytes()).into_owned();
                return Err(Failure::Down(format!(
                    "it wants the user to log in by {:?}; mysql_native_password and \
                     caching_sha2_password are known",
                    crate::dsn::printable(&name)
                )));
            }
        }
        let steps = plugin.init().map_err(|_| garbled())?;
        Ok(Self { steps, who })
    }

    /// The answer to a challenge, if there is something to say.
    fn answer(&mut self, challenge: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        const SEND_ME_ALL: &[u8] = &[4];
        if matches!(self.steps, AuthProc::CachingSha2Password(_))
            && challenge == SEND_ME_ALL
            && !self.who.is_secret()
        {
            // Else it would be given to whoever claims to be the server, and has a key.
            return Err(Failure::Down(
                "it wants the password itself, which is sent over TLS or a unix socket only: add \
                 \"tls=1\" or \"ca=\" to the storage DSN"
                    .to_owned(),
            ));
        }
        match self.steps.run(self.who, challenge) {
            Ok(Response::Next { packet } | Response::Last { packet }) => Ok(packet),
            Err(_) => Err(garbled()),
        }
    }
}

/// Who logs in, and over what.
struct Who<'a> {
    password: &'a [u8],
    nonce: &'a [u8],
    socket: bool,
    tls: bool,
}

impl Who<'_> {
    fn is_secret(&self) -> bool {
        self.socket || self.tls
    }
}

impl Context for &Who<'_> {
    fn pass(&self) -> &[u8] {
        self.password
    }

    fn is_ipc_transport(&self) -> bool {
        self.socket
    }

    fn is_tls_transport(&self) -> bool {
        self.tls
    }

    fn scramble(&self) -> &[u8] {
        self.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}
