#include "forest/cuts.h"

#include <bit>
#include <numeric>

#include "core/hash.h"

namespace pacboost::forest {
namespace {

/// Multiplied by a word of eight marks, its first byte has them as bits.
constexpr u64 FOLD = std::endian::native == std::endian::little ? 0x0102040810204080 : 0x8040201008040201;

template <class T>
std::unique_ptr<T[]> room(i64 size) {
    return std::make_unique_for_overwrite<T[]>(std::size_t(size));
}

/// List the marked codes in order, clear the marks, and return how many there are.
INLINE i64 list_marked(Desk& desk, i64 low, i64 high) {
    i64 count = 0;
    for (i64 block = low >> 6; block <= high >> 6; ++block) {
        u64 words[8], bits = 0;
        u8* marks = desk.marks + 64 * block;
        std::memcpy(words, marks, 64);
        for (int k = 0; k < 8; ++k) bits |= (words[k] * FOLD) >> 56 << (8 * k);
        std::memset(marks, 0, 64);
        for (; bits != 0; bits &= bits - 1) desk.present[count++] = 64 * block + std::countr_zero(bits);
    }
    return count;
}

/// The cut halfway between two successive codes of a node.
INLINE i64 between(i64 code, i64 following, i64 missing) {
    return following == missing ? code : (code + following - 1) >> 1;
}

/// Add the rows of a node to the sums of their codes.
INLINE void heap_up(Desk& desk, i64 line, i64 start, i64 size) {
    const u8* codes = desk.codes[line].get();
    const i64* parcels = desk.parcels.get() + start;
    if (!desk.is_weighted) {
        for (i64 i = 0; i < size; ++i) {
            u8 code = codes[i];
            desk.heavy[code] += parcels[i];  // both halves at once
            desk.marks[code] = 1;
        }
    } else {
        const i64* weights = desk.weights.get() + start;
        for (i64 i = 0; i < size; ++i) {
            u8 code = codes[i];
            desk.heavy[code] += weights[i];
            desk.pulls[code] += parcels[i];
            desk.marks[code] = 1;
        }
    }
    if (desk.plan.least > 1)
        for (i64 i = 0; i < size; ++i) desk.counts[codes[i]] += 1;
}

/// Link rows to the chain of their code, or add them to the sums of its classes.
INLINE void hang_up(Desk& desk, i64 line, i64 start, i64 size, bool is_chained) {
    const u8* codes = desk.codes[line].get();
    if (is_chained) {
        i32* chain = desk.chain.get();
        for (i64 i = 0; i < size; ++i) {
            u8 code = codes[i];
            desk.marks[code] = 1;
            chain[i] = i32(desk.heads[code]);
            desk.heads[code] = i;
        }
        return;
    }
    const i64* parcels = desk.parcels.get() + start;
    double* of_codes = desk.of_codes.get();
    i64 classes = desk.classes;
    for (i64 i = 0; i < size; ++i) {
        u8 code = codes[i];
        i64 parcel = parcels[i];
        desk.marks[code] = 1;
        of_codes[code * classes + class_of(parcel)] += weight_of(parcel);
        desk.heads[code] += 1;
    }
}

/// The weight on the left, and the sums of the squares of classes on the left and on the right.
struct Sides {
    double weight, left_square, right_square;
};

/// Move the rows of a code to the left; return their number.
INLINE i64 move_left(Desk& desk, i64 code, i64 start, bool is_chained, Sides& sides) {
    double *left = desk.of_left.get(), *node = desk.of_node.get();
    if (!is_chained) {
        const double* own = desk.of_codes.get() + code * desk.classes;
        double w = sides.weight, left_square = 0, right_square = 0;
        for (i64 c = 0; c < desk.classes; ++c) {
            double left_sum = left[c] + own[c], right_sum = node[c] - left_sum;
            left[c] = left_sum;
            w += own[c];
            left_square += left_sum * left_sum;
            right_square += right_sum * right_sum;
        }
        sides = {w, left_square, right_square};
        return desk.heads[code] + 1;
    }
    const i64* parcels = desk.parcels.get() + start;
    const i32* chain = desk.chain.get();
    auto [w, left_square, right_square] = sides;
    i64 n = 0;
    for (i64 i = desk.heads[code]; i >= 0; i = chain[i]) {
        i64 parcel = parcels[i], c = class_of(parcel);
        double weight = weight_of(parcel), left_sum = left[c];
        left_square += weight * (2 * left_sum + weight);
        right_square -= weight * (2 * (node[c] - left_sum) - weight);
        left[c] = left_sum + weight;
        w += weight;
        n += 1;
    }
    sides = {w, left_square, right_square};
    return n;
}

/// The score of a cut whose right side is in `of_left`, which is cleared.
INLINE double score_of_sides(Desk& desk, double lightest) {
    double w = 0, left_square = 0, right_square = 0, weight = 0;
    for (i64 c = 0; c < desk.classes; ++c) {
        double right = desk.of_left[c], total = desk.of_node[c];
        w += right;
        weight += total;
        right_square += right * right;
        left_square += (total - right) * (total - right);
        desk.of_left[c] = 0;
    }
    if (std::min(w, weight - w) < lightest) return -1;
    return left_square / (weight - w) + right_square / w;
}

}  // namespace

Desk::Desk(i64 size, i64 features, bool is_weighted, const Plan& plan, u64 seed)
    : plan(plan),
      size(size),
      n_features(features),
      classes(plan.classes > 2 ? plan.classes : 0),
      is_weighted(is_weighted),
      rows(room<u32>(size)),
      parcels(room<i64>(size)),
      weights(room<i64>(is_weighted ? size : 0)),
      spare_rows(room<u32>(size)),
      spare(room<i64>(size)),
      codes{room<u8>(size), room<u8>(size)},
      chain(room<i32>(classes ? size : 0)),
      features(room<i64>(features)),
      state(seed),
      of_codes(std::make_unique<double[]>(std::size_t(CODES * classes))),
      of_node(std::make_unique<double[]>(std::size_t(classes))),
      of_left(std::make_unique<double[]>(std::size_t(classes))) {
    std::iota(this->features.get(), this->features.get() + features, 0);
    std::fill(heads, heads + CODES, -1);
}

i64 below(u64& state, i64 limit) {
    state += STEP;
    return i64((mixed(state) >> 32) * u64(limit) >> 32);
}

Cut best_of_numbers(Desk& desk, i64 line, i64 start, i64 size, i64 low, i64 high, double lightest) {
    // The sums of codes are zero before and after.
    i64 missing = desk.plan.missing, min_rows = desk.plan.least;
    heap_up(desk, line, start, size);
    i64 count = list_marked(desk, low, high);
    if (!desk.is_weighted)
        for (i64 k = 0; k < count; ++k) {
            i64 code = desk.present[k];
            desk.pulls[code] = desk.heavy[code] >> 32;
            desk.heavy[code] &= LOW;
        }
    Cut best{-1, low, 0};
    for (i64 missing_left = 0; missing_left < (high == missing ? 2 : 1); ++missing_left) {
        i64 w = 0, t = 0, n = 0;
        if (missing_left) w = desk.heavy[missing], t = desk.pulls[missing], n = desk.counts[missing];
        for (i64 k = 0; k < count - 1 - missing_left; ++k) {
            i64 code = desk.present[k];
            w += desk.heavy[code];
            t += desk.pulls[code];
            n += desk.counts[code];
            if (min_rows > 1 && (n < min_rows || size - n < min_rows)) continue;
            double left_weight = double(w), right_weight = double(desk.node_weight - w);
            double left_pull = double(t), right_pull = double(desk.node_pull - t);
            if (std::min(left_weight, right_weight) < lightest) continue;
            double score = left_pull * left_pull / left_weight + right_pull * right_pull / right_weight;
            if (score > best.score) best = {score, between(code, desk.present[k + 1], missing), missing_left};
        }
    }
    for (i64 k = 0; k < count; ++k) {
        i64 code = desk.present[k];
        desk.heavy[code] = desk.pulls[code] = desk.counts[code] = 0;
    }
    return best;
}

Cut best_of_classes(Desk& desk, i64 line, i64 start, i64 size, i64 low, i64 high, double lightest) {
    // Small nodes link their rows to chains, one for each code, and move them one by one from right to
    // left; larger ones count a histogram. Sums by code and of the left side are zero before and
    // after; heads of chains are -1.
    i64 missing = desk.plan.missing, min_rows = desk.plan.least;
    bool is_chained = 3 * size < desk.classes * std::min(size, high - low + 1);  // measured
    hang_up(desk, line, start, size, is_chained);
    i64 count = list_marked(desk, low, high);
    Cut best{-1, low, 0};
    for (i64 missing_left = 0; missing_left < (high == missing ? 2 : 1); ++missing_left) {
        Sides sides{0, 0, desk.class_square};
        i64 n = 0;
        for (i64 k = -missing_left; k < count - 1 - missing_left; ++k) {
            i64 code = k >= 0 ? desk.present[k] : missing;
            n += move_left(desk, code, start, is_chained, sides);
            if (k < 0 || n < min_rows || size - n < min_rows) continue;
            double right_weight = desk.class_weight - sides.weight;
            double score = sides.left_square / sides.weight + sides.right_square / right_weight;
            if (score > best.score && std::min(sides.weight, right_weight) >= lightest)
                best = {score, between(code, desk.present[k + 1], missing), missing_left};
        }
        std::fill(desk.of_left.get(), desk.of_left.get() + desk.classes, 0.0);
    }
    for (i64 k = 0; k < count; ++k) {
        i64 code = desk.present[k];
        desk.heads[code] = -1;
        if (!is_chained) {
            double* own = desk.of_codes.get() + code * desk.classes;
            std::fill(own, own + desk.classes, 0.0);
        }
    }
    return best;
}

double score_of_cut(Desk& desk, i64 line, i64 start, i64 size, i64 cut, i64 side, double lightest) {
    const u8* codes = desk.codes[line].get();
    const i64* parcels = desk.parcels.get() + start;
    RightSide right(desk.plan, cut, side);
    i64 min_rows = desk.plan.least;
    if (min_rows > 1) {
        i64 n_right = 0;
        for (i64 i = 0; i < size; ++i) n_right += right.has(codes[i]);
        if (n_right < min_rows || size - n_right < min_rows) return -1;
    }
    if (desk.classes > 0) {
        double* of_left = desk.of_left.get();
        for (i64 i = 0; i < size; ++i)
            if (right.has(codes[i])) of_left[class_of(parcels[i])] += weight_of(parcels[i]);
        return score_of_sides(desk, lightest);
    }
    i64 right_weight = 0, right_pull = 0;
    if (!desk.is_weighted) {
        for (i64 i = 0; i < size; ++i) right_pull += parcels[i] & right.mask(codes[i]);
        right_weight = right_pull & LOW, right_pull >>= 32;
    } else {
        const i64* weights = desk.weights.get() + start;
        for (i64 i = 0; i < size; ++i) {
            i64 mask = right.mask(codes[i]);
            right_weight += weights[i] & mask;
            right_pull += parcels[i] & mask;
        }
    }
    double w = double(desk.node_weight - right_weight), t = double(desk.node_pull - right_pull);
    double other_w = double(right_weight), other_t = double(right_pull);
    if (std::min(w, other_w) < lightest) return -1;
    return t * t / w + other_t * other_t / other_w;
}

}  // namespace pacboost::forest
