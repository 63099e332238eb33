load '../support/style.gp'
set title 'Mean excess of an estimate over the truth: 6 rows of 101 counters'
set xlabel 'exponent of the stream (0: uniform)'
set ylabel 'mean of estimate - truth, share of N'
set logscale y
set format y '10^{%L}'
set key bottom left
set xrange [-0.1:1.6]
pattern(scheme, what) = sprintf( \
  '< awk -F, ''$1 ~ /^curve excess; .*; %s rows$/ && $2 == "%s"'' results.csv', \
  scheme eq 'two-hash' ? '3 x 2' : '6', scheme . '; ' . what)
updates = '"plain" "conservative; heavy keys first" "conservative; heavy keys last" "conservative; interleaved"'
plot for [i = 1:4] pattern('two-hash', word(updates, i)) using 3:7:8:9 with yerrorlines linecolor i \
    pointtype 4 + i title 'two-hash, ' . word(updates, i), \
  pattern('pairwise', 'plain') using ($3 + 0.02):7:8:9 with yerrorbars linecolor rgb formula pointtype 2 \
    title 'pairwise, plain', \
  pattern('congruential', 'plain') using ($3 + 0.04):7:8:9 with yerrorbars linecolor rgb paper pointtype 1 \
    title 'congruential, plain'
