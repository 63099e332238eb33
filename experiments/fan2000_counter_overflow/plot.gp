load '../support/style.gp'
set title 'Probability that the largest counter reaches i'
set xlabel 'i'
set ylabel 'probability'
set logscale y
set format y '10^{%L}'
set xrange [2.5:16.5]
set yrange [1e-17:10]
set key bottom left
color(i) = word("#1f5fa8 #c8501e #2e8b57", i)
power(i) = word("10 16 20", i)
size(i) = sprintf('2^%s counters', power(i))
measured(i) = sprintf( \
  '< awk -F, ''$1 == "%s" && $2 ~ /by the law of the largest/ && $7 > 0'' results.csv', size(i))
plot for [i = 1:3] row('curve law ' . size(i), 'law') using 3:6 with lines linecolor rgb color(i) \
    title sprintf('law, 2^{%s} counters', power(i)), \
  for [i = 1:3] row('curve bound ' . size(i), 'bound') using 3:6 with lines linecolor rgb color(i) dashtype 3 \
    title sprintf('bound m (e ln 2/i)^i, 2^{%s} counters', power(i)), \
  for [i = 1:3] measured(i) using 3:7:8:9 with yerrorbars linecolor rgb color(i) pointtype 7 \
    title (i == 1 ? 'measured' : '')
