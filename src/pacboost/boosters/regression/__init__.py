"""Boosters of numbers, one file each, named by the loss that they lower."""
