"""The ledger and the certificate for people: tables and progress in the terminal."""
