"""What a certificate assumes of equal rows (samples/same_example.py loads kernels, which bounds may not)."""

DISTINCT = "distinct rows are independent draws; equal rows are copies of one example"
