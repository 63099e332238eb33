load '../support/style.gp'
set title 'Overflows per replacement at two planned loads: planned and measured'
set ylabel 'probability'
set xlabel 'buckets per subtable'
set logscale xy
set format y '10^{%T}'
set xrange [1.5:90]
set yrange [1e-30:1e-3]
set key outside right
shapes = '2x8 2x32 3x16 4x8 4x32'
plot for [i = 1:5] row(word(shapes, i) . ' with churn', 'overflows per replacement') using 3:6 \
    with points pointtype (i + 3) linecolor rgb formula title word(shapes, i) . ', planned', \
  for [i = 1:5] row(word(shapes, i) . ' with churn', 'overflows per replacement') using 3:7 \
    with points pointtype (i + 3) linecolor rgb ours title word(shapes, i) . ', measured'
