load '../support/style.gp'
if (format eq 'svg') {
  set terminal svg size 1000,840 font 'Helvetica,13' background 'white'
} else {
  set terminal pngcairo size 1000,840 font 'Helvetica,11' background 'white'
}
set output 'plot.' . format
schemes = 'standard congruential partitioned double enhanced-double-quadratic enhanced-double-cubic triple ' . \
  'partition-double'
set logscale x
set xrange [80:13000]
set format y '%g'
set xlabel 'n'
set key top right samplen 1 font ',9'
c_of(i) = word('4 8 12 16', i)
k_of(i) = word('3 6 8 11', i)
set multiplot layout 2,2 title 'False positive probability against n: measured in 10000 filters, and exact laws'
do for [i = 1:4] {
  c = c_of(i)
  set title sprintf('c = %s, k = %s', c, k_of(i))
  p = (1 - exp(-real(k_of(i)) / c)) ** k_of(i)
  set ylabel (i % 2 ? 'false positive probability' : '')
  if (i == 4) { set logscale y }
  set yrange [word('0.144 0.0205 0.0028 0.00042', i) + 0 : word('0.161 0.028 0.0078 0.007', i) + 0]
  if (i == 1) { set key top right } else { if (i == 2) { unset key } }
  plot p with lines dashtype 2 linecolor rgb formula title 'p, the limit', \
    row('curve c = ' . c . ';', 'law of standard') using 3:6 with lines linecolor rgb ours title 'law, standard', \
    row('curve c = ' . c . ';', 'law of double') using 3:6 with lines linecolor rgb '#3a8f3a' title 'law, double', \
    row('curve c = ' . c . ';', 'law of partition-double') using 3:6 with lines linecolor rgb paper \
      title 'law, partition-double', \
    for [s = 1:8] row('c = ' . c . ';', word(schemes, s)) using ($3 * (1 + (s - 4.5) * 0.02)):7:8:9 \
      with yerrorbars pointtype 3 + s pointsize 0.7 linecolor s title word(schemes, s)
}
unset multiplot
