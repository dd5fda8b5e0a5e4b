//! Merkle tree arithmetic of RFC 9162, section 2.1: leaf and node hashes, the right edge of a growing
//! tree, roots, inclusion and consistency proofs, and the 256-entry subtrees that the journal keeps.
//!
//! Nothing here reads entries: callers bring leaf hashes, or the hashes of whole subtrees.

use sha2::{Digest, Sha256};

use crate::number::TreeSize;

/// Entries under one kept subtree hash.
pub const SUBTREE_ENTRIES: u64 = 256;

/// A SHA-256 of a leaf, a node or a whole tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Lower-case hex, 64 characters.
    pub fn to_hex(self) -> String {
        self.0
            .iter()
            .fold(String::with_capacity(64), |mut hex, byte| {
                for nibble in [byte >> 4, byte & 15] {
                    hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
                }
                hex
            })
    }

    /// The hash spelled by 64 hex digits.
    pub fn from_hex(hex: &str) -> Option<Hash> {
        let digits = hex.as_bytes();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let mut hash = [0u8; 32];
        for (byte, pair) in hash.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Hash(hash))
    }

    /// The hash in these 32 bytes.
    pub fn from_slice(bytes: &[u8]) -> Option<Hash> {
        bytes.try_into().ok().map(Hash)
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// The hash of an entry's canonical bytes as a leaf.
pub fn leaf_hash(entry: &[u8]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([0]);
    hasher.update(entry);
    Hash(hasher.finalize().into())
}

/// The hash of a node over its two children.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut both = [1u8; 65];
    both[1..33].copy_from_slice(&left.0);
    both[33..].copy_from_slice(&right.0);
    Hash(Sha256::digest(both).into())
}

/// The root of a tree without leaves.
pub fn empty_root() -> Hash {
    Hash(Sha256::digest([]).into())
}

/// The right edge of a tree: the roots of its complete subtrees, largest (leftmost) first.
///
/// Enough to append to the tree and to know its root; `size.count_ones()` hashes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edge {
    size: TreeSize,
    hashes: Vec<Hash>,
}

impl Edge {
    /// The edge of the empty tree.
    pub fn new() -> Edge {
        Edge::default()
    }

    /// The edge of a tree of `size` leaves with these subtree roots; `None` when their number does not fit.
    pub fn from_parts(size: TreeSize, hashes: Vec<Hash>) -> Option<Edge> {
        (hashes.len() == size.0.count_ones() as usize).then_some(Edge { size, hashes })
    }

    /// The edge written by [`Edge::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Edge> {
        let (size, hashes) = bytes.split_at_checked(8)?;
        let size = TreeSize(u64::from_be_bytes(size.try_into().ok()?));
        if hashes.len() % 32 != 0 {
            return None;
        }
        let hashes = hashes
            .chunks_exact(32)
            .filter_map(Hash::from_slice)
            .collect();
        Edge::from_parts(size, hashes)
    }

    /// The size as 8 bytes, big-endian, then the hashes, 32 bytes each, leftmost first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + 32 * self.hashes.len());
        bytes.extend_from_slice(&self.size.0.to_be_bytes());
        self.hashes
            .iter()
            .for_each(|hash| bytes.extend_from_slice(&hash.0));
        bytes
    }

    /// How many leaves the tree has.
    pub fn size(&self) -> TreeSize {
        self.size
    }

    /// The subtree roots, leftmost first.
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Appends one leaf. Returns the root of the 256-entry subtree that it completed, if it did.
    pub fn push(&mut self, leaf: Hash) -> Option<Hash> {
        let mut hash = leaf;
        let mut below = self.size.0;
        let mut height = 0;
        let mut completed = None;
        while below & 1 == 1 {
            if let Some(left) = self.hashes.pop() {
                hash = node_hash(&left, &hash);
            }
            below >>= 1;
            height += 1;
            if 1u64 << height == SUBTREE_ENTRIES {
                completed = Some(hash);
            }
        }
        self.hashes.push(hash);
        self.size.0 += 1;
        completed
    }

    /// The root of the tree.
    pub fn root(&self) -> Hash {
        let mut hashes = self.hashes.iter().rev();
        let Some(last) = hashes.next() else {
            return empty_root();
        };
        hashes.fold(*last, |right, left| node_hash(left, &right))
    }
}

/// The root over `leaves`, by RFC 9162's definition.
pub fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        more => {
            let (left, right) = more.split_at(split(more.len()));
            node_hash(&root(left), &root(right))
        }
    }
}

/// The largest power of two below `n`; `n` is at least 2.
fn split(n: usize) -> usize {
    1 << (usize::BITS - 1 - (n - 1).leading_zeros())
}

/// The audit path of leaf `index` (from 0) in the tree over `leaves`, nearest first.
pub fn inclusion_proof(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    if index >= leaves.len() {
        return None;
    }
    let mut path = Vec::new();
    inclusion(leaves, index, &mut path);
    Some(path)
}

fn inclusion(leaves: &[Hash], index: usize, path: &mut Vec<Hash>) {
    if leaves.len() < 2 {
        return;
    }
    let at = split(leaves.len());
    let (left, right) = leaves.split_at(at);
    if index < at {
        inclusion(left, index, path);
        path.push(root(right));
    } else {
        inclusion(right, index - at, path);
        path.push(root(left));
    }
}

/// The proof that the tree over the first `old` of `leaves` is a prefix of the whole.
/// Empty when `old` is 0 or all of them.
pub fn consistency_proof(leaves: &[Hash], old: usize) -> Option<Vec<Hash>> {
    if old > leaves.len() {
        return None;
    }
    let mut path = Vec::new();
    if old > 0 && old < leaves.len() {
        consistency(leaves, old, true, &mut path);
    }
    Some(path)
}

fn consistency(leaves: &[Hash], old: usize, whole: bool, path: &mut Vec<Hash>) {
    if old == leaves.len() {
        if !whole {
            path.push(root(leaves));
        }
        return;
    }
    let at = split(leaves.len());
    let (left, right) = leaves.split_at(at);
    if old <= at {
        consistency(left, old, whole, path);
        path.push(root(right));
    } else {
        consistency(right, old - at, false, path);
        path.push(root(left));
    }
}

/// Whether `proof` shows that `leaf` is entry `index` (from 0) of the tree with this size and root.
/// RFC 9162, section 2.1.3.2.
pub fn verify_inclusion(
    leaf: Hash,
    index: u64,
    size: TreeSize,
    proof: &[Hash],
    root: Hash,
) -> bool {
    if index >= size.0 {
        return false;
    }
    let (mut fork, mut last, mut hash) = (index, size.0 - 1, leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if fork & 1 == 1 || fork == last {
            hash = node_hash(sibling, &hash);
            while fork & 1 == 0 && fork != 0 {
                fork >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        fork >>= 1;
        last >>= 1;
    }
    last == 0 && hash == root
}

/// Whether `proof` shows that the old tree is a prefix of the new one. RFC 9162, section 2.1.4.2.
pub fn verify_consistency(old: (TreeSize, Hash), new: (TreeSize, Hash), proof: &[Hash]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size > new_size {
        return false;
    }
    if old_size == new_size {
        return proof.is_empty() && old_root == new_root;
    }
    if old_size.0 == 0 {
        return proof.is_empty() && old_root == empty_root();
    }
    let (first, steps) = match proof.split_first() {
        _ if old_size.0.is_power_of_two() => (old_root, proof),
        Some((first, steps)) => (*first, steps),
        None => return false,
    };
    let (mut fork, mut last) = (old_size.0 - 1, new_size.0 - 1);
    while fork & 1 == 1 {
        fork >>= 1;
        last >>= 1;
    }
    let (mut old_hash, mut new_hash) = (first, first);
    for step in steps {
        if last == 0 {
            return false;
        }
        if fork & 1 == 1 || fork == last {
            old_hash = node_hash(step, &old_hash);
            new_hash = node_hash(step, &new_hash);
            while fork & 1 == 0 && fork != 0 {
                fork >>= 1;
                last >>= 1;
            }
        } else {
            new_hash = node_hash(&new_hash, step);
        }
        fork >>= 1;
        last >>= 1;
    }
    last == 0 && old_hash == old_root && new_hash == new_root
}

/// The root of the tree of `size` leaves, from the hashes of its complete 256-entry subtrees (from the
/// first on) and the leaves after the last of these. `None` when either is short.
pub fn root_from_subtrees(size: TreeSize, subtrees: &[Hash], tail: &[Hash]) -> Option<Hash> {
    let whole = usize::try_from(size.0 / SUBTREE_ENTRIES).ok()?;
    let left = usize::try_from(size.0 % SUBTREE_ENTRIES).ok()?;
    let (subtrees, tail) = (subtrees.get(..whole)?, tail.get(..left)?);
    Some(match (whole, left) {
        (_, 0) => root(subtrees),
        (0, _) => root(tail),
        _ => fold_tail(subtrees, root(tail)),
    })
}

/// Joins a right-hand remainder, smaller than one subtree, to the subtrees before it.
fn fold_tail(subtrees: &[Hash], tail: Hash) -> Hash {
    let mut hash = tail;
    let mut end = subtrees.len();
    while end > 0 {
        let width = 1 << end.trailing_zeros();
        hash = node_hash(&root(&subtrees[end - width..end]), &hash);
        end -= width;
    }
    hash
}
