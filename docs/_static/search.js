// Pages of tasks come before methods, theorems and decisions when the site is searched.
const LATER = /^(api|generated|proofs|decisions|attacks|kernels|lectures)/;
var Scorer = {
  score: ([page, , , , score]) => (LATER.test(page) ? score - 20 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 5, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
