"""What people ask: how wrong can it be, how many examples do I need, is my learner weak enough?"""
