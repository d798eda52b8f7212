"""How rules, trees and records are written as fields of a file, and read back."""
