"""The parts of the handwriting demo: data, models, training, report."""
