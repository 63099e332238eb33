load '../support/style.gp'
set title 'False positives among 464 queries, in 10000 filters of n = 5000, c = 8, k = 6'
set xlabel 'Q'
set ylabel 'share of the filters'
set key top right
set xrange [-0.5:24.5]
set yrange [0:0.16]
share = 'share of the filters'
shift(i) = (i - 2) * 0.22
plot row('curve law normal', share) using 3:6 smooth csplines with lines linecolor rgb formula title 'normal density', \
  for [i = 1:3] row('curve ' . word('partition-double enhanced-double-quadratic congruential', i) . ';', share) \
    using ($3 + shift(i)):7:8:9 with yerrorbars pointtype 5 + i pointsize 0.6 linecolor i \
    title word('partition-double enhanced-double-quadratic congruential', i), \
  row('curve law binomial', share) using 3:6 with points pointtype 2 linecolor rgb formula title 'Binomial(464, p)'
