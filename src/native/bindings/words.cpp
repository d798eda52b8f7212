#include "words/words.h"

#include "bindings/arrays.h"
#include "bindings/module.h"

namespace nanobind::detail {
using pacboost::ListIndex;
template <class Pull>
using WordRows = pacboost::WordRows<Pull>;

template <class Pull>
struct type_caster<pacboost::WordRows<Pull>>
    : tuple_caster<WordRows<Pull>, &WordRows<Pull>::starts, &WordRows<Pull>::rows, &WordRows<Pull>::taken,
                   &WordRows<Pull>::weights, &WordRows<Pull>::pulls, &WordRows<Pull>::times_weight,
                   &WordRows<Pull>::rest, &WordRows<Pull>::criterion, &WordRows<Pull>::penalty> {};
template <>
struct type_caster<ListIndex> : tuple_caster<ListIndex, &ListIndex::entries, &ListIndex::lists, &ListIndex::lines,
                                             &ListIndex::n_lists, &ListIndex::values> {};
}  // namespace nanobind::detail

namespace pacboost {
namespace {

template <class Pull, class Cell>
void bind_cells(nb::module_& m) {
    def_team(m, "extend", extend<Pull, Cell>, "team"_a, "drawn"_a, "word_rows"_a, "gains"_a, "asked"_a, "cells"_a,
             "progress"_a,
             "Append the best word of every line drawn to a list, if it gains anything.\n\n"
             "The rows that hold it and have no cell get the next one; a cell of ``asked.size`` means none.\n"
             "``progress`` holds the number of words in the list, and of rows not taken.");
}

template <class Pull>
void bind_pulls(nb::module_& m) {
    def_team(m, "gains_of_all", gains_of_all<Pull>, "team"_a, "words"_a, "word_rows"_a, "out"_a,
             "Write the gain of each word; it is -1 for a word that no free row holds.");
    bind_cells<Pull, u16>(m);
    bind_cells<Pull, u32>(m);
}

}  // namespace

void bind_words(nb::module_& m, nb::module_& testing) {
    bind_pulls<i8>(m);
    bind_pulls<i64>(m);
    def(testing, "spoken", spoken, "criterion"_a, "pull"_a, "weight"_a, "penalty"_a,
        "Return the gain of a cell, for one output, over abstaining.");
    def(m, "score_words", score_words, "starts"_a, "words"_a, "index"_a, "first"_a, "scores"_a,
        "Add the values of word lists to the scores (rows, outputs), from row ``first`` on.\n\n"
        "``index`` holds entries, lists, lines, n_lists and values, those of ``WordIndex``.");
    def(m, "separate", separate, "starts"_a, "words"_a, "values"_a, "rare"_a, "signs"_a, "costs"_a, "orders"_a,
        "first"_a, "last"_a, "slopes"_a, "pushes"_a,
        "Find linear functions of words by coordinate descent in the dual, for outputs from ``first`` to\n"
        "``last``.\n\n"
        "Row i holds ``words`` with ``values``, and words that no other row holds, whose squares sum to\n"
        "``rare``; the last line of ``slopes`` is the intercept. ``pushes`` are the dual variables (rows,\n"
        "outputs); ``orders`` lists all rows once for every pass.");
}

}  // namespace pacboost
