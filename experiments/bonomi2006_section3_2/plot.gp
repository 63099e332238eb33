load '../support/style.gp'
set title 'Section 3.2: deletions that find several copies of their remainder'
set xlabel 'bits of the remainder'
set ylabel 'share of the deletions'
set logscale y
set format y '10^{%L}'
set xrange [5:23]
set key top right
several = 'deletions that find several copies'
plot row('curve formula', 'ambiguous') using 3:6 with lines linecolor rgb formula title 'formula', \
  row('one phase; the own', several) using 3:7:8:9 with yerrorbars linecolor rgb ours pointtype 7 \
    title 'one phase, measured'
