load '../support/style.gp'
set xlabel 'hash functions'
set xrange [0:31]
color(i) = word("#1f5fa8 #c8501e #2e8b57 #7b4ea3 #b8860b", i)
theta(i) = word("1 2 3 5 10", i)
of(i) = sprintf(' theta %s', theta(i))
set multiplot layout 1, 2
set title 'Figure 1: m/n = 4, m = 2^{18}'
set ylabel 'false positive probability'
set logscale y
set format y '10^{%L}'
set yrange [1e-64:1]
set key bottom center maxrows 4
plot for [i = 1:5] named('curve exact' . of(i), 'exact') using 3:6 with lines linecolor rgb color(i) \
    title 'theta ' . theta(i), \
  for [i = 1:5] row('filter' . of(i) . ' k', 'false positive rate of the final states') using 3:7:8:9 \
    with yerrorbars linecolor rgb color(i) pointtype 7 notitle, \
  row('curve best k', 'best k') using 3:6 with linespoints linecolor rgb 'black' dashtype 2 pointtype 4 \
    title 'best k', \
  NaN with points linecolor rgb 'black' pointtype 7 title 'measured'
set title 'Figure 2: relative error of equation 3'
unset logscale y
set format y '%g'
set ylabel 'percent'
set yrange [*:*]
set key top right
plot 0 linecolor rgb formula notitle, \
  for [i = 1:5] named('curve relative error' . of(i), 'relative error') using 3:6 with lines \
    linecolor rgb color(i) title 'theta ' . theta(i)
unset multiplot
