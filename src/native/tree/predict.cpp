#include "tree/predict.h"

namespace pacboost {
namespace {

/// The codes of a tile and the splits of a tree fit into the first-level cache.
constexpr i64 ROWS_PER_TILE = 512;
/// Rows whose leaves are found together. Leaves below every split of a tree are kept: 255 times this.
constexpr i64 ROWS_PER_BLOCK = 256;
constexpr i64 MAX_LEAVES = 256;  // their numbers take a byte
/// Fewer rows walk down.
constexpr i64 MIN_ROWS_TO_SEARCH = 16;

template <class Code>
INLINE bool is_left(const ScoredSplit& split, Code code, i64 missing, Array<const u8, 2> members) {
    if (split.member >= 0) return members(split.member, code) != 0;
    return i64(code) == missing ? split.missing_left != 0 : code <= split.cut;
}

/// Return the leaf of a row; `row` are its codes, `step` apart.
template <class Code>
INLINE i64 leaf_of(const Code* row, i64 step, const ScoredSplit* tree, Array<const u8, 2> members, i64 missing) {
    i64 at = 0;
    while (at >= 0) {
        const ScoredSplit& split = tree[at];
        at = is_left(split, row[split.feature * step], missing, members) ? split.left : split.right;
    }
    return ~at;
}

/// The leaves below a child, row by row: the same for all rows if it is a leaf.
struct SameLeaf {
    u8 leaf;
    INLINE u8 operator[](i64) const { return leaf; }
};
struct EachLeaf {
    const u8* __restrict leaves;
    INLINE u8 operator[](i64 i) const { return leaves[i]; }
};

/// Codes from `first` to `first + span` go right; in bytes, so that a vector holds as many as it can.
struct Cut {
    u8 first, span;
    INLINE bool is_right(u8 code) const { return u8(code - first) <= span; }
};
struct Subset {
    const u8* __restrict goes_left;
    INLINE bool is_right(u8 code) const { return goes_left[code] == 0; }
};

template <class Sides, class Left, class Right>
INLINE void choose(const u8* __restrict codes, i64 rows, Sides sides, Left left, Right right, u8* __restrict out) {
    for (i64 i = 0; i < rows; ++i) {
        u8 below_left = left[i], below_right = right[i];
        out[i] = sides.is_right(codes[i]) ? below_right : below_left;
    }
}

/// Finds the leaves of a block of rows in one tree after the other.
struct Block {
    Array<const u8, 2> codes, members;
    i64 missing, first, rows;
    u8 leaves[MAX_LEAVES - 1][ROWS_PER_BLOCK];

    /// Return the leaf of every row.
    const u8* search(const ScoredSplit* tree, i64 splits) {
        for (i64 t = splits - 1; t >= 0; --t) {
            const ScoredSplit& split = tree[t];
            if (split.member >= 0) {
                by(Subset{members[split.member].data}, t, split.feature, split.left, split.right);
                continue;
            }
            // missing is the largest code: of those above the cut, it is the one that may go left
            i64 begin = std::min(i64(split.cut) + 1, missing), end = split.missing_left != 0 ? missing - 1 : missing;
            if (begin <= end)
                by(Cut{u8(begin), u8(end - begin)}, t, split.feature, split.left, split.right);
            else  // no code goes right
                by(Cut{0, 255}, t, split.feature, split.left, split.left);
        }
        return leaves[0];
    }

 private:
    template <class Sides>
    INLINE void by(Sides sides, i64 t, i64 feature, i64 left, i64 right) {
        const u8* own = codes[feature].data + first;
        u8* out = leaves[t];
        if (left < 0 && right < 0)
            choose(own, rows, sides, SameLeaf{u8(~left)}, SameLeaf{u8(~right)}, out);
        else if (left < 0)
            choose(own, rows, sides, SameLeaf{u8(~left)}, EachLeaf{leaves[right]}, out);
        else if (right < 0)
            choose(own, rows, sides, EachLeaf{leaves[left]}, SameLeaf{u8(~right)}, out);
        else
            choose(own, rows, sides, EachLeaf{leaves[left]}, EachLeaf{leaves[right]}, out);
    }
};

/// Add the values of the leaves of some rows to their scores.
INLINE void add_values(const u8* __restrict leaves, i64 rows, const double* __restrict values, i64 outputs,
                       double* __restrict scores) {
    if (outputs == 1) {  // the common case, without a loop over outputs
        for (i64 i = 0; i < rows; ++i) scores[i] += values[leaves[i]];
        return;
    }
    for (i64 i = 0; i < rows; ++i)
        for (i64 k = 0; k < outputs; ++k) scores[i * outputs + k] += values[leaves[i] * outputs + k];
}

}  // namespace

template <class Code>
void score_trees(Array<const Code, 2> codes, Array<const i32, 2> nodes, Array<const u8, 2> members, i64 missing,
                 Array<const i64, 2> trees, Array<const double, 2> values, i64 start, Array<double, 2> scores) {
    static_assert(sizeof(ScoredSplit) == 6 * sizeof(i32));
    const i64 outputs = scores.shape[1], step = codes.shape[1];
    auto splits_of = [&](i64 t) {
        return reinterpret_cast<const ScoredSplit*>(nodes.slice(trees(t, 0), nodes.shape[0]).data);
    };
    for (i64 tile = 0; tile < scores.shape[0]; tile += ROWS_PER_TILE) {
        const i64 rows = std::min(ROWS_PER_TILE, scores.shape[0] - tile);
        for (i64 t = 0; t < trees.shape[0]; ++t) {
            const i64 splits = trees(t, 1);
            const double* own = values.slice(trees(t, 2), values.shape[0]).data;
            double* out = scores[tile].data;
            if constexpr (sizeof(Code) == 1) {
                if (0 < splits && splits < MAX_LEAVES && rows >= MIN_ROWS_TO_SEARCH && missing < MAX_LEAVES) {
                    Block block;  // its leaves are not set to anything
                    block.codes = codes, block.members = members, block.missing = missing;
                    for (i64 a = 0; a < rows; a += ROWS_PER_BLOCK) {
                        block.first = start + tile + a, block.rows = std::min(ROWS_PER_BLOCK, rows - a);
                        add_values(block.search(splits_of(t), splits), block.rows, own, outputs, out + a * outputs);
                    }
                    continue;
                }
            }
            for (i64 i = 0; i < rows; ++i) {
                const i64 leaf =
                    splits > 0 ? leaf_of(codes.data + start + tile + i, step, splits_of(t), members, missing) : 0;
                for (i64 k = 0; k < outputs; ++k) out[i * outputs + k] += own[leaf * outputs + k];
            }
        }
    }
}

template <class Code>
void score_tables(Array<const Code, 2> codes, Array<const i64> features, Array<const double, 3> tables, i64 start,
                  Array<double, 2> scores) {
    const i64 outputs = scores.shape[1];
    for (i64 tile = 0; tile < scores.shape[0]; tile += ROWS_PER_TILE) {
        const i64 rows = std::min(ROWS_PER_TILE, scores.shape[0] - tile);
        for (i64 f = 0; f < features.size(); ++f) {
            const Code* own = codes[features[f]].data + start + tile;
            const double* table = tables[f].data;
            double* out = scores[tile].data;
            for (i64 i = 0; i < rows; ++i)
                for (i64 k = 0; k < outputs; ++k) out[i * outputs + k] += table[own[i] * outputs + k];
        }
    }
}

#define FOR_CODES(Code)                                                                                                \
    template void score_trees(Array<const Code, 2>, Array<const i32, 2>, Array<const u8, 2>, i64, Array<const i64, 2>, \
                              Array<const double, 2>, i64, Array<double, 2>);                                          \
    template void score_tables(Array<const Code, 2>, Array<const i64>, Array<const double, 3>, i64, Array<double, 2>);
FOR_CODES(u8)
FOR_CODES(u16)

}  // namespace pacboost
