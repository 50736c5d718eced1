//! The slots of a cluster, by the names of keys.

use crate::store::remote::BREAKERS;

/// The number of slots of a cluster.
pub const SLOTS: u16 = 16384;
const CRC: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_XMODEM);

/// The number of a key's breaker: one for each 512 slots, so that few have slots of two nodes, of which one answers while the other
/// is down.
///
/// Not one for each node: a new process does not know which node serves a slot, and another node may take
/// the slot over.
pub fn breaker(name: &[u8]) -> u64 {
    u64::from(slot(name)) * BREAKERS / u64::from(SLOTS)
}

/// The slot of a key's name: that of its hash tag, the part within the first braces, if it has one.
pub fn slot(name: &[u8]) -> u16 {
    CRC.checksum(hash_tag(name).unwrap_or(name)) % SLOTS
}

fn hash_tag(name: &[u8]) -> Option<&[u8]> {
    let open = name.iter().position(|byte| *byte == b'{')?;
    let behind = name.get(open + 1..)?;
    let close = behind.iter().position(|byte| *byte == b'}')?;
    behind.get(..close).filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_cluster_specification() {
        // From the cluster specification, and CLUSTER KEYSLOT.
        assert_eq!(CRC.checksum(b"123456789"), 0x31c3);
        assert_eq!(slot(b"foo"), 12182);
        assert_eq!(slot(b"{user1000}.following"), slot(b"user1000"));
        assert_eq!(slot(b"foo{}{bar}"), CRC.checksum(b"foo{}{bar}") % 16384, "an empty tag");
        assert_eq!(slot(b"foo{{bar}}zap"), slot(b"{bar"));
        assert_eq!(slot(b"foo{bar}{zap}"), slot(b"bar"));
        assert_eq!(slot(b"tb:192.0.2.1"), CRC.checksum(b"tb:192.0.2.1") % 16384);
    }
}
