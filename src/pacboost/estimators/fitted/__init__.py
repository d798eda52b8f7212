"""What a fitted vote can do: predict, explain, abstain, report and certify."""
