"""What computes: which operators an engine takes, under which limits, and in how many cycles."""
