/// Words as rules: the gains of words, and the scores of a vote of word lists.
///
/// The rows that hold a word are `rows[starts[word]]` to before `rows[starts[word + 1]]`, see
/// sources/sparse.py. Sums over rows are of integers, and every word is judged separately: nothing
/// depends on threads.
#pragma once

#include "team/team.h"

namespace pacboost {

/// Criteria of splits and words.
enum Criterion : i64 { BY_NEWTON, BY_Z, BY_ERROR };

/// Return the gain of a cell, for one output, over abstaining.
///
/// NEWTON: pull²/(weight + penalty). ERROR: |pull|. Z: W - 2√(W₊W₋) = W - √(W² - pull²), the decrease of
/// the sum of weights (Schapire and Singer 2000, for rules that may abstain).
double spoken(i64 criterion, double pull, double weight, double penalty);

/// The rows that hold each word, the pulls and weights of all rows, and the criterion.
template <class Pull>
struct WordRows {
    Array<const i64> starts;
    Array<const i32> rows;
    Array<u8> taken;
    Array<const i64, 2> weights;
    Array<const Pull, 2> pulls;
    bool times_weight;
    /// (2, outputs): the sums of pulls and weights of all rows not taken; of shape (2, 0) if lists
    /// abstain on rows without a word.
    Array<i64, 2> rest;
    i64 criterion;
    double penalty;
};

/// Write the gain of each word; it is -1 for a word that no free row holds.
template <class Pull>
void gains_of_all(const Member& member, Array<const i64> words, const WordRows<Pull>& word_rows, Floats out);

/// Append the best word of every line drawn to a list, if it gains anything.
///
/// Members of a team take the words of a line one by one, because they differ in their numbers of rows;
/// the last member to end appends the best by `gains`. The rows that hold it and have no cell get the
/// next one; a cell of the size of `asked` means none. `progress` holds the number of words in the list,
/// and of rows not taken.
template <class Pull, class Cell>
void extend(const Member& member, Array<const i64, 2> drawn, const WordRows<Pull>& word_rows, Floats gains,
            Array<i32> asked, Array<Cell> cells, Wholes progress);

/// Word j is in the lists `lists[entries[j]]` to before `lists[entries[j + 1]]`, with the values in line
/// `lines[...]` of `values`. Lines of a list are in the order of its words, so the word of a row with the
/// smallest line counts; in lists with the number -1 every word does.
struct ListIndex {
    Array<const i64> entries;
    Array<const i32> lists, lines;
    i64 n_lists;
    Array<const double, 2> values;
};

/// Add the values of word lists to the scores (rows, outputs), from row `first` on. Row i holds the words
/// from `starts[i]` on.
void score_words(Array<const i64> starts, Array<const i32> words, const ListIndex& index, i64 first,
                 Array<double, 2> scores);

/// Find the linear functions with the least Σ w²/2 + Σ cost·max(0, 1 - y·w(x))², for outputs from `first`
/// to `last`: coordinate descent in the dual (Hsieh et al. 2008).
///
/// Row i holds `words` with `values`, and words that no other row holds, whose squares sum to `rare`; the
/// last line of `slopes` is the intercept. `pushes` are the dual variables (rows, outputs); `orders`
/// lists all rows once for every pass.
void separate(Array<const i64> starts, Array<const i32> words, Array<const double> values, Array<const double> rare,
              Array<const i8, 2> signs, Array<const double> costs, Array<const i32, 2> orders, i64 first, i64 last,
              Array<double, 2> slopes, Array<double, 2> pushes);

}  // namespace pacboost
