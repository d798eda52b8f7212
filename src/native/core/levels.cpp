#include "core/levels.h"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace pacboost {

int level_of_processor() {
#if !(defined(__x86_64__) || defined(_M_X64))
    return 0;
#elif defined(__GNUC__)
    __builtin_cpu_init();
    auto is_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                 __builtin_cpu_supports("bmi2");
    auto is_v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl");
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return 1;
    return is_v3 && is_v4 ? 4 : is_v3 ? 3 : 2;
#else
    int leaf[4];
    __cpuidex(leaf, 1, 0);
    bool is_v2 = (leaf[2] >> 20 & 1) && (leaf[2] >> 23 & 1);
    bool saves_avx = (leaf[2] >> 27 & 1) && (_xgetbv(0) & 6) == 6;  // the system keeps wide registers
    bool saves_avx512 = saves_avx && (_xgetbv(0) & 0xE6) == 0xE6;
    bool has_fma = leaf[2] >> 12 & 1;
    __cpuidex(leaf, 7, 0);
    unsigned ebx = unsigned(leaf[1]);
    bool is_v3 = saves_avx && has_fma && (ebx >> 3 & 1) && (ebx >> 5 & 1) && (ebx >> 8 & 1);
    bool is_v4 =
        saves_avx512 && (ebx >> 16 & 1) && (ebx >> 17 & 1) && (ebx >> 28 & 1) && (ebx >> 30 & 1) && (ebx >> 31);
    return !is_v2 ? 1 : is_v3 && is_v4 ? 4 : is_v3 ? 3 : 2;
#endif
}

}  // namespace pacboost
