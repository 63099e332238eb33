load '../support/style.gp'
set title 'Buckets with a load of 8 or more, by the rule that chooses them'
set xlabel 'load, keys a bucket'
set ylabel 'share of buckets'
set logscale y
set xrange [5.8:6.95]
set yrange [0.001:1]
set xtics (6, 6.5, 6.75)
rules = '"independent" "multiplier" "rotation" "multiplier with low bits"'
shift(i) = (i - 2.5) * 0.02
plot row('choices independent at', 'load >= 8') using 3:6 with linespoints linecolor rgb formula pointtype 2 \
    title 'fluid limit', \
  for [i = 1:4] row('choices ' . word(rules, i) . ' at', 'load >= 8') using ($3 + shift(i)):7:8:9 \
    with yerrorbars pointtype 4 + i linecolor i title word(rules, i)
