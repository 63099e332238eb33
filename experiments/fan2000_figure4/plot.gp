load '../support/style.gp'
set title 'Figure 4: false positives against bits per key'
set xlabel 'bits per key'
set ylabel 'probability of a false positive'
set logscale y
set format y '10^{%L}'
set xrange [1:33]
set yrange [1e-7:1]
set key bottom left
rate = 'false positive rate of the final states'
plot row('curve k = 4', 'k = 4') using 3:6 with lines linecolor rgb paper title '4 hash functions', \
  row('curve best k', 'best k') using 3:6 with lines linecolor rgb ours title 'best whole k', \
  row('curve straight line', 'straight line') using 3:6 with lines linecolor rgb formula dashtype 3 \
    title '0.6185^{m/n}', \
  row('4 hash functions at', rate) using 3:7:8:9 with yerrorbars linecolor rgb paper pointtype 7 \
    title '4 hash functions, measured', \
  row('best k at', rate) using 3:7:8:9 with yerrorbars linecolor rgb ours pointtype 7 title 'best k, measured'
