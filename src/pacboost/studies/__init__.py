"""Studies: rows are drawn at random and labelled, some of them teach, and the others certify."""
