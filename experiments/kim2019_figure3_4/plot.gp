load '../support/style.gp'
set xlabel 'kappa'
set multiplot layout 1, 2
set title 'Figure 3: y_1 and y_2 at theta = 3'
set yrange [-14:3]
set key bottom right
plot row('curve y1', 'y1') using 3:6 with lines linecolor rgb ours title 'y_1', \
  row('curve y2', 'y2') using 3:6 with lines linecolor rgb paper title 'y_2', \
  row('curve crossing', 'crossing') using 3:6 with points linecolor rgb 'black' pointtype 7 \
    title 'kappa_1 and kappa_2'
set title 'Figure 4: g at theta = 3'
set yrange [*:*]
set key bottom right
plot 0 linecolor rgb formula notitle, \
  row('curve g', 'g') using 3:6 with lines linecolor rgb ours title 'g', \
  row('curve kappa*', 'kappa*') using 3:6 with points linecolor rgb 'black' pointtype 7 title 'kappa*'
unset multiplot
