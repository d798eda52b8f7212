#include "core/exact_loops.h"

namespace pacboost {

void exponentials(Array<const double> values, Floats out) {
    const double* from = values.data;
    double* to = out.data;
    for (i64 i = 0; i < out.size(); ++i) {
        double x = from[i] < MAX_EXPONENT ? from[i] : MAX_EXPONENT;
        double raised = exp_below_0(x);
        to[i] = from[i] == from[i] ? raised : from[i];
    }
}

void logarithms(Array<const double> values, Floats out) {
    constexpr double INFINITE = std::numeric_limits<double>::infinity();
    const double* from = values.data;
    double* to = out.data;
    for (i64 i = 0; i < out.size(); ++i) {
        double x = from[i];
        auto [k, f, low] = powers(x);
        double of_finite = k * LN2_HIGH + (f - (low - k * LN2_LOW));
        double edge = x == 0.0 ? -INFINITE : x > 0.0 ? x : std::numeric_limits<double>::quiet_NaN();
        to[i] = ((0.0 < x) & (x < INFINITE)) ? of_finite : edge;
    }
}

void sigmoids(Array<const double> values, Floats out) {
    const double* from = values.data;
    double* to = out.data;
    for (i64 i = 0; i < out.size(); ++i) {
        double small = exp_below_0(-std::abs(from[i]));
        double share = (from[i] >= 0 ? 1.0 : small) / (1.0 + small);
        to[i] = from[i] == from[i] ? share : from[i];
    }
}

void raise_rows(Array<const double, 2> rows, Array<double, 2> less, Array<double, 2> raised, Floats sums) {
    for (i64 i = 0; i < rows.shape[0]; ++i) {
        auto from = rows[i];
        auto to = less[i];
        double top = from[0];
        for (i64 k = 0; k < from.size(); ++k) top = from[k] > top ? from[k] : top;
        for (i64 k = 0; k < from.size(); ++k) to[k] = from[k] - top;
    }
    exponentials(less.flat(), raised.flat());
    for (i64 i = 0; i < rows.shape[0]; ++i) {
        double total = 0.0;
        for (double x : raised[i]) total += x;
        sums[i] = total;
    }
}

void steps_below_1(Array<const double> values, double steps, i64 last, Bytes out) {
    for (i64 i = 0; i < values.size(); ++i) {
        out[i] = u8(last);
        if (values[i] == 0.0) continue;
        auto [k, f, low] = powers(values[i]);
        out[i] = u8(std::min(std::floor(-steps * (k + (f - low) * LOG2_E)), double(last)));
    }
}

}  // namespace pacboost
