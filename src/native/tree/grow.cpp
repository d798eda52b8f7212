#include "tree/grow.h"

#include "tree/draw.h"
#include "tree/histograms.h"
#include "tree/leaves.h"
#include "tree/route.h"
#include "tree/split_general.h"

namespace pacboost {
namespace {

constexpr i64 MIN_ROWS_TO_SORT = 4'096;  // per member: about 10 µs of work

/// How many members sort a leaf of `size` rows.
INLINE i64 sorting_pieces(i64 team, i64 size) { return std::min(team, std::max<i64>(1, size / MIN_ROWS_TO_SORT)); }

/// Sort the rows of a leaf by the sides of its split; write how many of each part go left.
void sort_rows(const Member& member, Array<const u64> block, int shift, Bytes goes_left, Rows rows, Rows aside,
               Array<i64, 2> lefts) {
    const i64 pieces = sorting_pieces(member.team, rows.size());
    auto [first, last] = share(rows.size(), member.number, pieces);
    if (member.number < pieces)
        lefts(member.number, 0) = part(block, shift, goes_left, rows.slice(first, last), aside.slice(first, last));
    if (pieces > 1) meet(member);
    if (member.number < pieces) {
        i64 n_left = 0, before = 0;
        for (i64 k = 0; k < pieces; ++k) {
            n_left += lefts(k, 0);
            before += k < member.number ? lefts(k, 0) : 0;
        }
        i64 n_own_left = lefts(member.number, 0);
        std::copy_n(aside.data + first, n_own_left, rows.data + before);
        u32* to = rows.data + n_left + first - before;
        const u32* from = aside.data + last - 1;
        for (i64 k = 0; k < last - first - n_own_left; ++k) to[k] = from[-k];
    }
}

/// Set the best split of a leaf that a member has found, the first of equals.
void take_best(i64 team, const TeamFindings& findings, const Leaves& leaves, i64 leaf, i64 side) {
    i64 chosen = -1;
    double best_worth = -std::numeric_limits<double>::infinity();
    for (i64 member = 0; member < team; ++member) {
        double after = findings.worth(member, 2 * side), before = findings.worth(member, 2 * side + 1);
        if (after > before && after > best_worth) chosen = member, best_worth = after;
    }
    leaves.gains[leaf] = 0.0;
    if (chosen < 0) return;
    leaves.gains[leaf] = best_worth - findings.worth(chosen, 2 * side + 1);
    for (i64 k = 0; k < leaves.best.shape[1]; ++k) leaves.best(leaf, k) = findings.best(chosen, side, k);
    for (i64 k = 0; k < leaves.members.shape[1]; ++k) leaves.members(leaf, k) = findings.members(chosen, side, k);
}

/// List the rows that take part, and plan the search of the root.
void begin(const Member& member, const GrowingTree& tree) {
    Wholes plan = tree.plan;
    auto [first, last] = own_share(tree.rows.size(), member);
    if (tree.chosen.size() > 0)
        std::copy(tree.chosen.data + first, tree.chosen.data + last, tree.rows.data + first);
    else
        for (i64 k = first; k < last; ++k) tree.rows[k] = u32(k);
    if (last_to_arrive(member)) {
        plan[LEAF] = 0, plan[NEW] = 0, plan[LEAVES] = 1, plan[SEARCH] = 1, plan[LEFT_COUNTED] = 1;
        member.board->ticket.store(0);
        release(member);
    }
}

/// Sort the rows of a leaf by the sides of its split, and decide how to search the parts.
void part_leaf(const Member& member, const GrowingTree& tree, i64 leaf, i64 new_leaf) {
    const Leaves& leaves = tree.leaves;
    const TeamFindings& findings = tree.findings;
    Wholes best = leaves.best[leaf], plan = tree.plan;
    Feature feature = tree.codes.features[best[FEATURE]];
    Bytes goes_left = findings.sides[member.number];
    const i64 start = leaves.starts[leaf], size = leaves.sizes[leaf], lane = feature[LANE];
    sides(feature, best, leaves.members[leaf], tree.codes.missing, goes_left);
    if (member.number == 0) std::copy_n(goes_left.data, CODES, tree.sides[new_leaf - 1].data);
    sort_rows(member, tree.codes.words[lane >> 3], int(8 * (lane & 7)), goes_left, tree.rows.slice(start, start + size),
              tree.spare.slice(start, start + size), findings.lefts);
    if (last_to_arrive(member)) {
        i64 n_left = 0;
        for (i64 piece = 0; piece < sorting_pieces(member.team, size); ++piece) n_left += findings.lefts(piece, 0);
        leaves.starts[new_leaf] = start + n_left, leaves.sizes[new_leaf] = size - n_left;
        leaves.sizes[leaf] = n_left;
        bool is_deepest = leaves.depths[leaf] >= tree.limits[DEEPEST];
        plan[SEARCH] = plan[LEAVES] < leaves.gains.size() && !is_deepest;
        plan[LEFT_COUNTED] = 2 * n_left <= size;
        member.board->ticket.store(0);
        release(member);
    }
}

/// Count one part of a leaf and subtract it from the other; return this member's lanes. At the root,
/// there is only one part to count.
Span count_parts(const Member& member, const GrowingTree& tree, i64 leaf, i64 new_leaf) {
    const Leaves& leaves = tree.leaves;
    const i64 listed = tree.limits[LISTED];
    const bool left = tree.plan[LEFT_COUNTED];
    const i64 counted = left ? leaf : new_leaf, other = left ? new_leaf : leaf;
    const i64 start = leaves.starts[counted], slot = leaves.slots[leaf];
    Rows rows = tree.rows.slice(start, start + leaves.sizes[counted]);
    if (rows.size() > listed) return count_rows(member, tree, rows, new_leaf, slot);
    if (new_leaf > 0 && leaves.sizes[other] > listed) return subtract_rows(member, tree, rows, slot);
    return own_share(tree.codes.lanes, member);
}

/// Search some features for the best split of one part.
void search_part(const Member& member, const GrowingTree& tree, const std::optional<Spans>& spans,
                 const std::optional<Interactions>& interactions, i64 side, i64 slot, Span own) {
    const TeamFindings& findings = tree.findings;
    Wholes limits = tree.limits, plan = tree.plan;
    const i64 features = tree.codes.features.shape[0], leaf = side == 0 ? plan[LEAF] : plan[NEW];
    Bytes allowed = findings.allowed[member.number].slice(0, features);
    Wholes deck = findings.decks[member.number].slice(0, features);
    const u64 key = u64(limits[KEY] + 2 * plan[NEW] + side);
    if (interactions)
        draw_open(allowed, deck, limits[DRAWN], key, *interactions, leaf);
    else
        draw_features(allowed, deck, limits[DRAWN], key);
    const i64 start = tree.leaves.starts[leaf], size = tree.leaves.sizes[leaf];
    Rows rows = tree.rows.slice(start, start + (size <= limits[LISTED] ? size : 0));
    SplitSearch search{tree.codes, allowed, own.first, own.last, tree.rules};
    Wholes best = findings.best(member.number, side);
    Worth found = spans ? scan_general(search, tree.histogram[slot], rows, tree.pairs, size, (*spans)[leaf],
                                       plan[NEW] == 0, best, findings.members(member.number, side))
                        : scan(search, tree.histogram(slot, 0), rows, tree.pairs[0], size, best);
    findings.worth(member.number, 2 * side) = found.after;
    findings.worth(member.number, 2 * side + 1) = found.before;
}

/// The sum of the pairs of a leaf with a histogram.
i64 total_of(const GrowingTree& tree, i64 leaf) {
    i64 total = 0;
    for (i64 pair : tree.histogram(tree.leaves.slots[leaf], 0, 0)) total += pair;
    return total;
}

/// Choose the next leaf to split, and record its split; the plan says -1 if there is none.
void choose_leaf(const Member& member, const GrowingTree& tree, const std::optional<Interactions>& interactions) {
    const Leaves& leaves = tree.leaves;
    const i64 new_leaf = tree.plan[LEAVES];
    i64 leaf = next_leaf(leaves.gains, new_leaf);
    if (new_leaf == leaves.gains.size() || member.board->stop.load() != 0) leaf = -1;
    if (leaf >= 0) {
        record(tree.codes.features, leaves, tree.splits, leaf, new_leaf);
        if (interactions) hand_down(*interactions, leaves.best(leaf, FEATURE), leaf, new_leaf);
        tree.plan[LEAVES] = new_leaf + 1;
    }
    tree.plan[LEAF] = leaf, tree.plan[NEW] = new_leaf;
}

/// Grow the tree; its rows are then sorted by leaves.
void grow(const Member& member, const GrowingTree& tree, const std::optional<Spans>& spans,
          const std::optional<Interactions>& interactions) {
    const Leaves& leaves = tree.leaves;
    const i64 features = tree.codes.features.shape[0];
    Wholes plan = tree.plan;
    begin(member, tree);
    while (plan[LEAF] >= 0) {
        look_for_interrupt(member);
        const i64 leaf = plan[LEAF], new_leaf = plan[NEW];
        const int parts = new_leaf > 0 ? 2 : 1;
        if (new_leaf > 0) part_leaf(member, tree, leaf, new_leaf);  // the root is only counted and searched
        const i64 slot = leaves.slots[leaf];
        const bool left = plan[LEFT_COUNTED];
        const i64 left_slot = left ? new_leaf : slot, right_slot = left ? slot : new_leaf;
        if (plan[SEARCH]) {
            Span own = count_parts(member, tree, leaf, new_leaf);
            if (spans || features != tree.codes.lanes) {
                if (last_to_arrive(member)) {
                    leaves.slots[leaf] = left_slot, leaves.slots[new_leaf] = right_slot;
                    if (spans && new_leaf > 0)
                        narrow(total_of(tree, leaf), total_of(tree, new_leaf), tree.codes.features, leaves, *spans,
                               leaf, new_leaf);
                    release(member);
                }
                own = own_share(features, member);
            }  // else lane j is that of feature j, and this member counted it
            for (int side = 0; side < parts; ++side)
                search_part(member, tree, spans, interactions, side, side == 0 ? left_slot : right_slot, own);
        }
        if (last_to_arrive(member)) {
            for (int side = 0; side < parts; ++side) {
                const i64 k = side == 0 ? leaf : new_leaf;
                leaves.gains[k] = 0.0;
                if (plan[SEARCH]) {
                    leaves.slots[k] = side == 0 ? left_slot : right_slot;
                    take_best(member.team, tree.findings, leaves, k, side);
                }
            }
            choose_leaf(member, tree, interactions);
            release(member);
        }
    }
}

/// Walk the rows that were not chosen to their leaves.
template <class Cell>
void settle(const Member& member, const TreeArrays<Cell>& tree) {
    const Rows chosen = tree.chosen;
    const i64 rows = tree.cells.size(), root = tree.plan[LEAVES] == 1 ? -1 : 0;
    auto [first, last] = own_share(chosen.size() + 1, member);
    for (i64 k = first; k < last; ++k) {  // the rows after chosen row k - 1 and before chosen row k
        const i64 begin = k > 0 ? i64(chosen[k - 1]) + 1 : 0, end = k < chosen.size() ? i64(chosen[k]) : rows;
        for (i64 row = begin; row < end; ++row) {
            i64 at = root;
            while (at >= 0) {
                Array<const i64> split = tree.splits.columns[at];
                const i64 lane = tree.codes.features(split[FEATURE], LANE);
                const i64 code = i64((tree.codes.words(lane >> 3, row) >> (8 * (lane & 7))) & 255);
                at = split[tree.sides(at, code) ? LEFT : RIGHT];
            }
            tree.cells[row] = Cell(~at);
        }
    }
}

}  // namespace

template <class Cell>
void grow_tree(const Member& member, const TreeArrays<Cell>& tree, const std::optional<Spans>& spans,
               const std::optional<Interactions>& interactions) {
    grow(member, tree, spans, interactions);
    auto [first, last] = own_share(tree.cells.size(), member);
    const i64 count = tree.plan[LEAVES];
    label<Cell>(tree.rows, tree.leaves.starts.slice(0, count), tree.leaves.sizes.slice(0, count), first, last,
                tree.cells);
    if (tree.chosen.size() > 0) settle(member, tree);
}

template void grow_tree(const Member&, const TreeArrays<u8>&, const std::optional<Spans>&,
                        const std::optional<Interactions>&);
template void grow_tree(const Member&, const TreeArrays<u16>&, const std::optional<Spans>&,
                        const std::optional<Interactions>&);

}  // namespace pacboost
