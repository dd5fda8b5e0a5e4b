//! The tree against published vectors, against its definition, and against every small lie.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    missing_docs,
    reason = "a test fails by panicking and has no readers; its sizes are small"
)]

use boundlane_record::TreeSize;
use boundlane_record::tree::{
    Edge, Hash, SUBTREE_ENTRIES, consistency_proof, empty_root, inclusion_proof, leaf_hash, root,
    root_from_subtrees, verify_consistency, verify_inclusion,
};
use proptest::prelude::*;

/// The leaves of the vectors that implementations of RFC 6962 and 9162 share, in hex.
const LEAVES: [&str; 8] = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
];

/// The roots of the trees over the first one to eight of them.
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn vector_leaves() -> Vec<Hash> {
    let bytes = |hex: &str| -> Vec<u8> {
        let pairs = (0..hex.len()).step_by(2);
        pairs
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    };
    LEAVES.iter().map(|hex| leaf_hash(&bytes(hex))).collect()
}

/// `count` different leaves.
fn leaves(count: usize) -> Vec<Hash> {
    (0..count)
        .map(|n| leaf_hash(n.to_string().as_bytes()))
        .collect()
}

fn size(count: usize) -> TreeSize {
    TreeSize(count as u64)
}

fn flipped(hash: Hash, bit: usize) -> Hash {
    let mut bytes = hash.0;
    bytes[bit / 8 % 32] ^= 1 << (bit % 8);
    Hash(bytes)
}

#[test]
fn a_root_that_differs_from_the_published_one() {
    // Proves leaf, node and root hashing against the shared vectors, by definition and by edge.
    let leaves = vector_leaves();
    assert_eq!(
        empty_root().to_hex(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    assert_eq!(Edge::new().root(), empty_root());
    let mut edge = Edge::new();
    for (count, expected) in (1..=8).zip(ROOTS) {
        edge.push(leaves[count - 1]);
        assert_eq!(root(&leaves[..count]).to_hex(), expected);
        assert_eq!(edge.root(), Hash::from_hex(expected).unwrap());
    }
}

#[test]
fn a_path_that_differs_from_the_published_one() {
    // Proves the order of the hashes in proofs, which a verifier of the same hand would not notice.
    let leaves = vector_leaves();
    let hex = |path: Vec<Hash>| path.into_iter().map(Hash::to_hex).collect::<Vec<_>>();
    assert_eq!(
        hex(inclusion_proof(&leaves, 0).unwrap()),
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ]
    );
    assert_eq!(
        hex(inclusion_proof(&leaves[..3], 2).unwrap()),
        ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]
    );
    assert_eq!(
        hex(consistency_proof(&leaves, 6).unwrap()),
        [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ]
    );
}

#[test]
fn an_edge_that_is_not_the_tree_it_grew_from() {
    // Proves for every size up to 600: edge, bytes and back, kept subtrees with their tail, and the
    // definition give one root; and a subtree is announced exactly where one is complete.
    let leaves = leaves(600);
    let (mut edge, mut subtrees) = (Edge::new(), Vec::new());
    for count in 0..=600 {
        let expected = root(&leaves[..count]);
        assert_eq!((edge.root(), edge.size()), (expected, size(count)));
        let read = Edge::from_bytes(&edge.to_bytes());
        assert_eq!(read.as_ref(), Some(&edge));
        assert_eq!(read, Edge::from_parts(size(count), edge.hashes().to_vec()));
        let tail = &leaves[subtrees.len() * 256..count];
        assert_eq!(
            root_from_subtrees(size(count), &subtrees, tail),
            Some(expected)
        );
        if let Some(leaf) = leaves.get(count) {
            let completed = edge.push(*leaf);
            assert_eq!(
                completed.is_some(),
                (count as u64 + 1).is_multiple_of(SUBTREE_ENTRIES)
            );
            subtrees.extend(completed);
        }
    }
    assert_eq!(subtrees, [root(&leaves[..256]), root(&leaves[256..512])]);
}

#[test]
fn parts_that_do_not_make_an_edge_are_taken() {
    // Proves that an edge with the wrong number of hashes, or odd bytes, is refused.
    let leaves = leaves(3);
    assert_eq!(Edge::from_parts(size(3), leaves.clone()), None);
    assert_eq!(Edge::from_parts(size(0), leaves[..1].to_vec()), None);
    let bytes = Edge::from_parts(size(3), leaves[..2].to_vec())
        .unwrap()
        .to_bytes();
    for end in 0..bytes.len() {
        assert_eq!(Edge::from_bytes(&bytes[..end]), None, "{end}");
    }
    assert_eq!(Edge::from_bytes(&[&bytes[..], &[0]].concat()), None);
    assert_eq!(root_from_subtrees(size(3), &[], &leaves[..2]), None);
    assert_eq!(root_from_subtrees(size(256), &[], &leaves), None);
}

#[test]
fn many_subtrees_and_a_tail_give_another_root() {
    // Proves the folding of a tail onto 0 to 9 whole subtrees, at both ends of the tail's length.
    let leaves = leaves(9 * 256 + 255);
    let mut edge = Edge::new();
    let subtrees: Vec<Hash> = leaves.iter().filter_map(|leaf| edge.push(*leaf)).collect();
    for whole in 0..=9 {
        for left in [0, 1, 2, 128, 255] {
            let count = whole * 256 + left;
            let tail = &leaves[whole * 256..count];
            let expected = Some(root(&leaves[..count]));
            assert_eq!(root_from_subtrees(size(count), &subtrees, tail), expected);
        }
    }
}

#[test]
fn a_proof_of_a_small_tree_that_fails_or_proves_another_place() {
    // Proves for every tree of up to 40 leaves and every leaf and older size: the proof holds there,
    // and for no other leaf, index or size.
    let leaves = leaves(40);
    for count in 1..=40 {
        let whole = root(&leaves[..count]);
        for index in 0..count {
            let proof = inclusion_proof(&leaves[..count], index).unwrap();
            for other in 0..=count {
                let holds =
                    verify_inclusion(leaves[index], other as u64, size(count), &proof, whole);
                assert_eq!(holds, other == index, "{index} as {other} of {count}");
            }
            let longer = [&proof[..], &[whole]].concat();
            assert!(!verify_inclusion(
                leaves[index],
                index as u64,
                size(count),
                &longer,
                whole
            ));
        }
        for old in 0..=count {
            let proof = consistency_proof(&leaves[..count], old).unwrap();
            let new = (size(count), whole);
            for other in 0..=count {
                let holds = verify_consistency((size(other), root(&leaves[..old])), new, &proof);
                assert_eq!(holds, other == old, "{old} as {other} of {count}");
            }
        }
        assert_eq!(inclusion_proof(&leaves[..count], count), None);
        assert_eq!(consistency_proof(&leaves[..count], count + 1), None);
    }
}

proptest! {
    /// For all trees, leaves and bits: an inclusion proof verifies, and not with one bit of the leaf,
    /// the root or the path flipped, a hash left out, added or swapped.
    #[test]
    fn a_forged_inclusion_proof_holds(count in 1usize..700, index in any::<prop::sample::Index>(), bit in 0usize..256, at in any::<prop::sample::Index>()) {
        let leaves = leaves(count);
        let (index, whole) = (index.index(count), root(&leaves));
        let proof = inclusion_proof(&leaves, index).unwrap();
        let holds = |leaf, proof: &[Hash], root| verify_inclusion(leaf, index as u64, size(count), proof, root);
        prop_assert!(holds(leaves[index], &proof, whole));
        prop_assert!(!holds(flipped(leaves[index], bit), &proof, whole));
        prop_assert!(!holds(leaves[index], &proof, flipped(whole, bit)));
        if !proof.is_empty() {
            let at = at.index(proof.len());
            let mut forged = proof.clone();
            forged[at] = flipped(forged[at], bit);
            prop_assert!(!holds(leaves[index], &forged, whole));
            forged.remove(at);
            prop_assert!(!holds(leaves[index], &forged, whole));
        }
    }

    /// For all trees, older sizes and bits: a consistency proof verifies, and not with one bit of either
    /// root or the path flipped, a hash left out, or the sizes another.
    #[test]
    fn a_forged_consistency_proof_holds(count in 1usize..700, old in any::<prop::sample::Index>(), bit in 0usize..256, at in any::<prop::sample::Index>()) {
        let leaves = leaves(count);
        let old = 1 + old.index(count);
        let (before, after) = (root(&leaves[..old]), root(&leaves));
        let proof = consistency_proof(&leaves, old).unwrap();
        let holds = |before, after, proof: &[Hash]| verify_consistency((size(old), before), (size(count), after), proof);
        prop_assert!(holds(before, after, &proof));
        prop_assert!(!holds(flipped(before, bit), after, &proof));
        prop_assert!(!holds(before, flipped(after, bit), &proof));
        prop_assert!(!verify_consistency((size(count + 1), after), (size(count), after), &proof));
        if !proof.is_empty() {
            let at = at.index(proof.len());
            let mut forged = proof.clone();
            forged[at] = flipped(forged[at], bit);
            prop_assert!(!holds(before, after, &forged));
            forged.remove(at);
            prop_assert!(!holds(before, after, &forged));
        }
    }

    /// For all hashes: hex reads back, in either case, and nothing else does.
    #[test]
    fn a_hash_that_does_not_read_back(bytes in any::<[u8; 32]>(), at in 0usize..64) {
        let hex = Hash(bytes).to_hex();
        prop_assert_eq!(Hash::from_hex(&hex), Some(Hash(bytes)));
        prop_assert_eq!(Hash::from_hex(&hex.to_uppercase()), Some(Hash(bytes)));
        prop_assert_eq!(Hash::from_slice(&bytes), Some(Hash(bytes)));
        prop_assert_eq!(Hash::from_hex(&hex[1..]), None);
        let mut wrong = hex;
        wrong.replace_range(at..=at, "+");
        prop_assert_eq!(Hash::from_hex(&wrong), None);
    }
}
