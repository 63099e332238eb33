load '../support/style.gp'
set title 'c = 16, k = 11: rate over that of independent positions'
set xlabel 'bits of the filter: a prime, a highly composite number, a power of two'
set ylabel 'measured / independent positions'
set logscale y
set xrange [0.4:7.6]
set yrange [0.7:700]
set xtics ('101' 1, '120' 2, '128' 3, '1009' 4, '1008' 5, '1024' 6)
place(m) = m == 101 ? 1 : m == 120 ? 2 : m == 128 ? 3 : m == 1009 ? 4 : m == 1008 ? 5 : 6
set key top right samplen 1
schemes = 'partition-double double enhanced-double-quadratic enhanced-double-cubic triple partitioned standard ' . \
  'congruential'
shift(i) = (i - 4.5) * 0.08
plot 1 with lines linecolor rgb formula notitle, \
  for [i = 1:8] row('curve c = 16;', word(schemes, i)) using (place($3) + shift(i)):7:8:9 with yerrorbars \
    pointtype 3 + i linecolor i title word(schemes, i), \
  for [i = 1:5] row('curve c = 16;', word(schemes, i)) using (place($3) + shift(i)):($6 > 0 ? $6 : 1/0) with points pointtype 2 \
    pointsize 1.5 linecolor rgb formula title (i == 1 ? 'exact law' : '')
