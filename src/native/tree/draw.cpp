#include "tree/draw.h"

#include "core/hash.h"

namespace pacboost {

void draw_features(Bytes allowed, Wholes deck, i64 count, u64 seed) {
    const i64 features = allowed.size();
    if (count >= features) return;
    for (i64 j = 0; j < features; ++j) deck[j] = j, allowed[j] = 0;
    u64 state = seed;
    for (i64 k = 0; k < count; ++k) {
        state += STEP;
        i64 place = k + i64(mixed(state) % u64(features - k));
        std::swap(deck[k], deck[place]);
        allowed[deck[k]] = 1;
    }
}

void draw_open(Bytes allowed, Wholes deck, i64 max_drawn, u64 seed, const Interactions& rules, i64 leaf) {
    Bytes open = rules.open[leaf];
    i64 count = 0;
    for (i64 j = 0; j < allowed.size(); ++j) count += open[j];
    i64 drawn = std::min(max_drawn, std::max<i64>(1, i64(std::ceil(rules.share * double(count)))));
    if (drawn >= count) {
        for (i64 j = 0; j < allowed.size(); ++j) allowed[j] = open[j];
        return;
    }
    draw_features(allowed, deck, allowed.size() - 1, seed);  // the deck is in a random order now
    for (i64 j = 0; j < allowed.size(); ++j) allowed[j] = 0;
    for (i64 j : deck)
        if (drawn > 0 && open[j]) allowed[j] = 1, drawn -= 1;
}

void hand_down(const Interactions& rules, i64 feature, i64 leaf, i64 new_leaf) {
    Bytes asked = rules.asked[leaf], open = rules.open[leaf], reach = rules.reach[leaf];
    const i64 features = asked.size();
    asked[feature] = 1;
    i64 count = 0;
    for (i64 j = 0; j < features; ++j) {
        count += asked[j];
        rules.asked(new_leaf, j) = asked[j];
    }
    if (rules.sets.shape[0] == 0) {
        for (i64 j = 0; j < features; ++j) open[j] = count >= rules.max_features ? asked[j] : u8(1);
    } else {
        for (i64 j = 0; j < features; ++j) open[j] = 0;
        for (i64 k = 0; k < rules.sets.shape[0]; ++k) {
            reach[k] &= rules.sets(k, feature);
            rules.reach(new_leaf, k) = reach[k];
            if (reach[k])
                for (i64 j = 0; j < features; ++j) open[j] |= rules.sets(k, j);
        }
    }
    for (i64 j = 0; j < features; ++j) rules.open(new_leaf, j) = open[j];
}

}  // namespace pacboost
