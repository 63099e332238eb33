load '../support/style.gp'
set xlabel 'exponent of Zipf''s law'
set title '2^{16} insertions of 2^{20} keys, 2^{15} counters, 2 hash functions'
set ylabel 'false positive rate'
set logscale y
set format y '10^{%L}'
set xrange [-0.1:2.1]
set yrange [1e-8:3]
set key bottom left maxrows 5
color(i) = word("#1f5fa8 #c8501e #2e8b57", i)
theta(i) = word("2 5 10", i)
of(i) = sprintf(' theta %s k 2', theta(i))
measured(i, quantity) = sprintf( \
  '< awk -F, ''$1 ~ /^Zipf .*%s$/ && $2 == "%s"'' results.csv', of(i), quantity)
plot for [i = 1:3] row('curve compound' . of(i), 'compound') using 3:6 with lines linecolor rgb color(i) \
    title 'compound Poisson, theta ' . theta(i), \
  for [i = 1:3] row('curve equation 3' . of(i), 'equation 3') using 3:6 with lines linecolor rgb color(i) \
    dashtype 3 title 'equation 3, theta ' . theta(i), \
  for [i = 1:3] measured(i, 'false positive rate of the final states') using 3:7:8:9 with yerrorbars \
    linecolor rgb color(i) pointtype 7 title (i == 1 ? 'measured' : ''), \
  for [i = 1:3] measured(i, 'conservative update beside the law of plain update') using 3:7:8:9 \
    with yerrorbars linecolor rgb color(i) pointtype 6 title (i == 1 ? 'measured, conservative update' : '')
