"""What a certificate assumes of equal rows: samples/same_example.py finds them."""

DISTINCT = "distinct rows are independent draws; equal rows are copies of one example"
