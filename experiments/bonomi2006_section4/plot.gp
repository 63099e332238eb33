load '../support/style.gp'
set title 'Section 4: false positive rate against space'
set xlabel 'bits per key'
set ylabel 'false positive rate'
set logscale y
set format y '10^{%L}'
set key bottom left
set xrange [9:56]
set yrange [1e-6:1]
rate = 'false positive rate of the final states'
plot row('curve dlCBF', 'false positive rate') using 3:6 with lines linecolor rgb ours \
    title 'dlCBF, 24 2^{-r} in 4(r + 2)/3 bits', \
  row('curve standard CBF', 'false positive rate') using 3:6 with lines linecolor rgb paper \
    title 'standard CBF, 2^{-c ln 2} in 4c bits', \
  row('curve 4 x 64', 'false positive rate') using 3:6 with lines dashtype 2 linecolor rgb ours \
    title '4 x 64 cells, as safe', \
  row('dlCBF of', rate) using 3:7:8:9 with yerrorbars linecolor rgb ours pointtype 7 title 'dlCBF, measured', \
  row('standard CBF of', rate) using 3:7:8:9 with yerrorbars linecolor rgb paper pointtype 7 \
    title 'standard CBF, measured'
