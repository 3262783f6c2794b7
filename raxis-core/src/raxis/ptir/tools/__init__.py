"""Tools that look at programs: differences, statistics, drawings, and the command line that offers them."""
