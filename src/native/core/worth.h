/// The worth of a leaf, by which splits are chosen. CUDA compiles this file, too.
#pragma once

#include "core/scalar.h"

namespace pacboost {

enum : i64 { NEWTON, Z, ERROR_RATE };

/// A gain below this share of the worth of a leaf comes from rounding.
constexpr double NOISE = 1e-12;

/// The worth of a leaf with a single output; a split gains if its leaves are worth more.
INLINE double worth_of_one(i64 criterion, double pull, double weight, double penalty) {
    if (criterion == NEWTON) return pull * pull / (weight + penalty);
    if (criterion == ERROR_RATE) return fabs(pull);
    // Both factors are integers: weight² - pull² would lose digits if a leaf is nearly pure.
    double product = (weight - pull) * (weight + pull);
    return -sqrt(product > 0.0 ? product : 0.0);
}

}  // namespace pacboost
