load '../support/style.gp'
set xlabel 'theta'
set logscale x
set multiplot layout 1, 2
set title 'Figure 5: the best load'
set ylabel 'kappa'
set logscale y
plot row('curve kappa*', 'kappa*') using 3:6 with lines linecolor rgb ours title 'kappa*', \
  row('curve line', 'line') using 3:6 with lines linecolor rgb paper dashtype 2 title '0.2037 theta + 0.9176', \
  '< awk -F, ''$1 == "Table 1"'' results.csv' using 3:7 with points linecolor rgb 'black' pointtype 6 \
    pointsize 0.6 title 'least probability by a scan'
set title 'Figure 6: relative error of the line'
unset logscale y
set ylabel 'percent'
set key top right
plot 2 linecolor rgb formula dashtype 3 title '2%', -2 linecolor rgb formula dashtype 3 notitle, \
  row('curve error of the line', 'error of the line') using 3:6 with lines linecolor rgb ours notitle
unset multiplot
