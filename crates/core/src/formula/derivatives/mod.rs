//! Derivatives of a formula met with its training examples: the chain rule over the tree, in one pass for all parameters.
//!
//! For a weight W_ij on every entry of K, the contraction Σ_ij W_ij ∂K_ij/∂θ_p is computed for all p by pushing W down the tree, tile
//! by tile. With A the weights of a node, K its values and k those of its child:
//!
//! ```text
//! node                weights of the child      what the node's own parameter and others get
//! k + l + …           A
//! k l …               A l …
//! c k                 c A                       ∂c: Σ A k
//! kⁿ                  n kⁿ⁻¹ A
//! Σ a_m kᵐ            (Σ m a_m kᵐ⁻¹) A          ∂a_m: Σ A kᵐ
//! exp k               K A
//! k/√(k_ii k_jj)      A/√(k_ii k_jj)            k_ii: −½ (Σ_j A_ij K_ij + Σ_j A_ji K_ji)/k_ii
//! exp(−γq)            2γ K A                    k_ii: −γ (Σ_j A_ij K_ij + Σ_j A_ji K_ji),  ∂γ: −Σ A K q,  q = k_ii − 2k + k_jj
//! centred             (I − p1ᵀ) A (I − 1pᵀ)     p: the share of each example in the centre
//! set                 A_S(a)S(b), or that divided by both sizes: for members a, b of the sets S(a), S(b)
//! ```
//!
//! The rules with k_ii turn weights of pairs into weights of the diagonal, which are pushed down example by example. Centring and sets
//! need weights that no tile of the parent holds; there a second pass starts, whose weights are found by pushing the first ones down
//! again where they are asked for.
//!
//! # Cost
//! One evaluation of each kernel of the formula and one contraction of each: for `ard` about two products of matrices.
//!
//! # Source
//! The chain rule; Rasmussen & Williams, *Gaussian Processes for Machine Learning* (2006), §5.4.1, for contractions with
//! W = ½(ααᵀ − K⁻¹). With p = 1/n, I − p1ᵀ is the centring matrix of Shawe-Taylor & Cristianini (2004), §5.1.

mod pass;
mod tile;
mod tree;
mod weights;

pub(super) use pass::contract;
pub(super) use tree::Tree;
