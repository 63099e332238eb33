load '../support/style.gp'
set title "Table 1: share of buckets, less the fluid limit at the load of distinct fingerprints"
set xlabel 'load at least'
set ylabel 'difference'
set xrange [0.5:8.5]
set key top left
# Joins the rows of one setting to the fluid limit at the distinct load, which the simulation's rows predict.
joined(setting, value) = sprintf('< awk -F, ''$1 == "simulation multiplier" && $3 != "" { at[$3] = $6 } ' . \
  '$1 == "%s" && $3 in at { print $3 "," $%d - at[$3] "," $8 - at[$3] "," $9 - at[$3] }'' results.csv', setting, value)
plot 0 linecolor rgb formula title 'fluid limit at 5.9956, distinct fingerprints', \
  joined('fluid limit at 6', 6) using 1:2 with linespoints linecolor rgb paper dashtype 2 pointtype 6 \
    title 'fluid limit at 6, the second column of the paper', \
  joined('simulation multiplier', 4) using ($1 + 0.1):2 with points linecolor rgb paper pointtype 7 \
    title 'simulation of the paper, 10,000 trials', \
  joined('simulation multiplier', 7) using ($1 - 0.1):2:3:4 with yerrorbars linecolor rgb ours pointtype 7 \
    title 'ours with limits', \
  joined('simulation rotation', 7) using ($1 - 0.2):2:3:4 with yerrorbars linecolor rgb '#6fa8dc' pointtype 5 \
    title 'ours, rotations'
