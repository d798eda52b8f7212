/// Levels of x86-64 processors: v2 has SSE 4.2, v3 AVX2 and FMA, v4 AVX-512.
#pragma once

#include "core/array.h"

namespace pacboost {
/// The highest level that this processor has; 0 on other kinds of processors.
int level_of_processor();
}  // namespace pacboost
