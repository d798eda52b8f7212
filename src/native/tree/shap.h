/// Share each row's score among the features: path-dependent Tree SHAP, exactly.
///
/// The game (Lundberg, Erion and Lee, Consistent individualized feature attribution for tree
/// ensembles, 2018): v(S) is the mean of the tree over descents that follow the row at features in S,
/// and go either way by cover at all others. A leaf of value u adds u · ∏_f (o_f if f in S, else
/// r_f), over the features f on its path: o_f is 1 if the row meets every condition on f, and r_f is
/// the product of the shares of cover along them. By Owen (Multilinear extensions of games, 1972) the
/// Shapley value is an integral, here
///
///     φ_f = u · (o_f - r_f) · ∫₀¹ ∏_{g ≠ f} (o_g y + r_g (1 - y)) dy,
///
/// of a polynomial of degree d - 1 for d features: the Gauss-Legendre rule with d/2 points is exact.
/// At a point every factor is positive, so that factors can be divided out again; products go down
/// the tree and sums over leaves come up, in time nodes · points for each row. Their algorithm 2
/// takes leaves · depth² for the same numbers.
///
/// A node is a split, or the number of splits plus a leaf's number; its entries describe the edge above
/// it. The root has no edge: it stands for "no earlier edge of this feature".
#pragma once

#include "core/array.h"

namespace pacboost {

/// Write the tables for descents, for each node below the root; those of the root are inputs.
///
/// `before` is the lowest node above with an edge of the same feature, `distinct` the number of
/// features so far, `share` the product of the shares of cover over this feature's edges so far, and
/// `reach` that over all edges. A split without cover is divided into halves.
void shap_edges(Array<const i32> feature, Array<const i32> left, Array<const i32> right, Array<const double> cover,
                Array<i32> parent, Array<i32> before, Array<i32> distinct, Floats share, Floats reach);

/// A tree and its tables for descents.
struct ShapTree {
    i64 missing;
    Array<const i32> feature, cut;
    Array<const bool> missing_left;
    Array<const i32> left, right, member;
    Array<const u8, 2> members;
    Array<const double, 2> values;
    Array<const i32> before;
    /// (2, nodes, points): with o = 0 and with o = 1, o·y + share·(1 - y).
    Array<const double, 3> factor;
    /// One over the factor.
    Array<const double, 3> inverse;
    /// (o - share) · weight of the point / factor.
    Array<const double, 3> pull;
};

/// Add one tree's shares to `out` (rows, features, outputs), from row `start` to `stop`.
void add_shap(Array<const u8, 2> codes, i64 start, i64 stop, Array<double, 3> out, const ShapTree& tree);

}  // namespace pacboost
