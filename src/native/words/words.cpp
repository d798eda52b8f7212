#include "words/words.h"

#include <vector>

namespace pacboost {
namespace {

/// The gain of a word that no free row holds: smaller than any other.
constexpr double NO_ROWS = -1.0;
/// Places in `progress`.
constexpr i64 WORDS = 0, FREE = 1;

/// The sums of pulls and weights of the rows of a word, one of each for every output.
struct WordSums {
    explicit WordSums(i64 outputs) : pulls(std::size_t(outputs)), weights(std::size_t(outputs)) {}
    std::vector<i64> pulls, weights;

    /// Sum up a word's rows that are not taken; return whether there are any.
    template <class Pull>
    bool add_up(i64 word, const WordRows<Pull>& word_rows) {
        const i64 outputs = word_rows.weights.shape[1];
        std::fill(pulls.begin(), pulls.end(), 0);
        std::fill(weights.begin(), weights.end(), 0);
        bool has_rows = false;
        for (i64 q = word_rows.starts[word]; q < word_rows.starts[word + 1]; ++q) {
            const i64 i = word_rows.rows[q];
            if (word_rows.taken[i]) continue;
            has_rows = true;
            const i64* weight = word_rows.weights[i].data;
            const Pull* pull = word_rows.pulls[i].data;
            for (i64 k = 0; k < outputs; ++k) {
                weights[std::size_t(k)] += weight[k];
                pulls[std::size_t(k)] += word_rows.times_weight ? weight[k] * pull[k] : i64(pull[k]);
            }
        }
        return has_rows;
    }

    /// Return the gain of a word on the rows that hold it and are not taken.
    template <class Pull>
    double gain_of(i64 word, const WordRows<Pull>& word_rows) {
        if (!add_up(word, word_rows)) return NO_ROWS;
        auto spoken_by = [&](i64 pull, i64 weight) {
            return spoken(word_rows.criterion, double(pull), double(weight), word_rows.penalty);
        };
        double gain = 0.0;
        for (std::size_t k = 0; k < pulls.size(); ++k) gain += spoken_by(pulls[k], weights[k]);
        for (i64 k = 0; k < word_rows.rest.shape[1]; ++k)
            gain +=
                spoken_by(word_rows.rest(0, k) - pulls[std::size_t(k)], word_rows.rest(1, k) - weights[std::size_t(k)]);
        return gain;
    }
};

/// Append a word to a list: its rows are taken, and those without a cell get one.
template <class Pull, class Cell>
void append(i64 word, const WordRows<Pull>& word_rows, Array<i32> asked, Array<Cell> cells, Wholes progress) {
    for (i64 q = word_rows.starts[word]; q < word_rows.starts[word + 1]; ++q) {
        const i64 i = word_rows.rows[q];
        progress[FREE] -= 1 - word_rows.taken[i];
        word_rows.taken[i] = 1;
        if (i64(cells[i]) == asked.size()) cells[i] = Cell(progress[WORDS]);
    }
    asked[progress[WORDS]] = i32(word);
    progress[WORDS] += 1;
}

}  // namespace

double spoken(i64 criterion, double pull, double weight, double penalty) {
    if (weight + penalty <= 0) return 0.0;
    if (criterion == BY_NEWTON) return pull * pull / (weight + penalty);
    if (criterion == BY_ERROR) return std::abs(pull);
    // both factors are integers: weight² - pull² would lose digits if a cell is nearly pure
    return weight + -std::sqrt(std::max((weight - pull) * (weight + pull), 0.0));
}

template <class Pull>
void gains_of_all(const Member& member, Array<const i64> words, const WordRows<Pull>& word_rows, Floats out) {
    WordSums sums(word_rows.weights.shape[1]);
    auto [first, last] = own_share(words.size(), member);
    for (i64 c = first; c < last; ++c) out[c] = sums.gain_of(words[c], word_rows);
}

template <class Pull, class Cell>
void extend(const Member& member, Array<const i64, 2> drawn, const WordRows<Pull>& word_rows, Floats gains,
            Array<i32> asked, Array<Cell> cells, Wholes progress) {
    WordSums sums(word_rows.weights.shape[1]);
    auto& ticket = member.board->ticket;
    if (last_to_arrive(member)) {
        ticket.store(0);
        release(member);
    }
    for (i64 line = 0; line < drawn.shape[0] && progress[FREE] != 0; ++line) {
        auto words = drawn[line];
        for (i64 c = ticket.fetch_add(1); c < words.size(); c = ticket.fetch_add(1))
            gains[c] = sums.gain_of(words[c], word_rows);
        if (last_to_arrive(member)) {
            ticket.store(0);
            const i64 best = std::max_element(gains.begin(), gains.end()) - gains.begin();
            if (gains[best] > 0) {
                const i64 word = words[best];
                if (word_rows.rest.shape[1] > 0) {
                    sums.add_up(word, word_rows);
                    for (i64 k = 0; k < word_rows.rest.shape[1]; ++k) {
                        word_rows.rest(0, k) -= sums.pulls[std::size_t(k)];
                        word_rows.rest(1, k) -= sums.weights[std::size_t(k)];
                    }
                }
                append(word, word_rows, asked, cells, progress);
            }
            release(member);
        }
    }
}

void score_words(Array<const i64> starts, Array<const i32> words, const ListIndex& index, i64 first,
                 Array<double, 2> scores) {
    const i64 outputs = scores.shape[1], n_words = index.entries.size() - 1;
    std::vector<i32> first_line(std::size_t(index.n_lists), -1), met(std::size_t(index.n_lists), 0);
    for (i64 i = 0; i < scores.shape[0]; ++i) {
        double* out = scores[i].data;
        auto add = [&](i64 line) {
            const double* values = index.values[line].data;
            for (i64 k = 0; k < outputs; ++k) out[k] += values[k];
        };
        std::size_t count = 0;
        for (i64 q = starts[first + i]; q < starts[first + i + 1]; ++q) {
            const i64 word = words[q];
            if (word >= n_words) continue;
            for (i64 entry = index.entries[word]; entry < index.entries[word + 1]; ++entry) {
                const i32 list = index.lists[entry], line = index.lines[entry];
                if (list < 0) {
                    add(line);
                    continue;
                }
                i32& earliest = first_line[std::size_t(list)];
                if (earliest < 0) {
                    earliest = line;
                    met[count++] = list;
                } else if (line < earliest) {
                    earliest = line;
                }
            }
        }
        for (std::size_t m = 0; m < count; ++m) {
            i32& earliest = first_line[std::size_t(met[m])];
            add(earliest);
            earliest = -1;
        }
    }
}

void separate(Array<const i64> starts, Array<const i32> words, Array<const double> values, Array<const double> rare,
              Array<const i8, 2> signs, Array<const double> costs, Array<const i32, 2> orders, i64 first, i64 last,
              Array<double, 2> slopes, Array<double, 2> pushes) {
    const i64 outputs = last - first;
    std::vector<double> room_of_outputs(std::size_t(outputs), 0.0);
    double *room = room_of_outputs.data(), *always = slopes[slopes.shape[0] - 1].data + first;
    for (i32 i : orders.flat()) {
        if (costs[i] <= 0) continue;
        double* push = pushes[i].data + first;
        const i8* sign = signs[i].data + first;
        const double looser = 0.5 / costs[i];
        double square = 1.0 + rare[i] + looser;
        for (i64 k = 0; k < outputs; ++k) room[k] = always[k] + rare[i] * sign[k] * push[k];
        for (i64 q = starts[i]; q < starts[i + 1]; ++q) {
            const double value = values[q], *line = slopes[words[q]].data + first;
            square += value * value;
            for (i64 k = 0; k < outputs; ++k) room[k] += value * line[k];
        }
        bool moved = false;
        for (i64 k = 0; k < outputs; ++k) {
            const double lack = 1.0 - sign[k] * room[k] - looser * push[k];
            const double step = std::max(push[k] + lack / square, 0.0) - push[k];
            push[k] += step;
            room[k] = sign[k] * step;
            moved |= step != 0;
        }
        if (!moved) continue;
        for (i64 k = 0; k < outputs; ++k) always[k] += room[k];
        for (i64 q = starts[i]; q < starts[i + 1]; ++q) {
            const double value = values[q];
            double* line = slopes[words[q]].data + first;
            for (i64 k = 0; k < outputs; ++k) line[k] += value * room[k];
        }
    }
}

#define FOR_PULLS(Pull)                                                                                             \
    template void gains_of_all(const Member&, Array<const i64>, const WordRows<Pull>&, Floats);                     \
    template void extend(const Member&, Array<const i64, 2>, const WordRows<Pull>&, Floats, Array<i32>, Array<u16>, \
                         Wholes);                                                                                   \
    template void extend(const Member&, Array<const i64, 2>, const WordRows<Pull>&, Floats, Array<i32>, Array<u32>, \
                         Wholes);
FOR_PULLS(i8)
FOR_PULLS(i64)

}  // namespace pacboost
