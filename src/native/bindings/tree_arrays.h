/// The structs of tree/layout.h, read from the tuples of kernels/layout.py.
#pragma once

#include "bindings/arrays.h"
#include "tree/layout.h"

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <>
struct type_caster<pacboost::Codes>
    : tuple_caster<pacboost::Codes, &pacboost::Codes::words, &pacboost::Codes::features, &pacboost::Codes::lanes,
                   &pacboost::Codes::missing, &pacboost::Codes::orders, &pacboost::Codes::evidence> {};
template <>
struct type_caster<pacboost::Leaves>
    : tuple_caster<pacboost::Leaves, &pacboost::Leaves::starts, &pacboost::Leaves::sizes, &pacboost::Leaves::slots,
                   &pacboost::Leaves::best, &pacboost::Leaves::members, &pacboost::Leaves::gains,
                   &pacboost::Leaves::hangs, &pacboost::Leaves::depths> {};
template <>
struct type_caster<pacboost::Splits>
    : tuple_caster<pacboost::Splits, &pacboost::Splits::columns, &pacboost::Splits::members, &pacboost::Splits::gains> {
};
template <>
struct type_caster<pacboost::TeamFindings>
    : tuple_caster<pacboost::TeamFindings, &pacboost::TeamFindings::lefts, &pacboost::TeamFindings::worth,
                   &pacboost::TeamFindings::best, &pacboost::TeamFindings::members, &pacboost::TeamFindings::sides,
                   &pacboost::TeamFindings::allowed, &pacboost::TeamFindings::decks> {};
template <class Cell>
struct type_caster<pacboost::TreeArrays<Cell>>
    : tuple_caster<pacboost::TreeArrays<Cell>, &pacboost::GrowingTree::codes, &pacboost::GrowingTree::chosen,
                   &pacboost::GrowingTree::rows, &pacboost::GrowingTree::spare, &pacboost::GrowingTree::pairs,
                   &pacboost::GrowingTree::histogram, &pacboost::GrowingTree::partial, &pacboost::GrowingTree::rules,
                   &pacboost::GrowingTree::leaves, &pacboost::GrowingTree::splits, &pacboost::GrowingTree::sides,
                   &pacboost::GrowingTree::findings, &pacboost::GrowingTree::plan, &pacboost::GrowingTree::limits,
                   &pacboost::TreeArrays<Cell>::cells> {};
template <>
struct type_caster<pacboost::Interactions>
    : tuple_caster<pacboost::Interactions, &pacboost::Interactions::sets, &pacboost::Interactions::max_features,
                   &pacboost::Interactions::share, &pacboost::Interactions::reach, &pacboost::Interactions::asked,
                   &pacboost::Interactions::open> {};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
