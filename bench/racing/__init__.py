"""The parts of bench/race.py. Modules that import NumPy run in the race's own environment, the others anywhere."""
