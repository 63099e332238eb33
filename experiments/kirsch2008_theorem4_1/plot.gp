load '../support/style.gp'
set title 'c = 8, k = 6: the error is O(1/n)'
set xlabel 'keys'
set ylabel 'n (Pr(F) - p)'
set logscale x 2
set xrange [14:4600]
set yrange [0:0.5]
set key top left horizontal
schemes = 'partition-double double enhanced-double-quadratic partitioned random enhanced-double-cubic standard'
name(i) = i == 5 ? 'random f' : word(schemes, i)
plot for [i = 1:7] row('curve error', name(i)) using 3:($3 * $6) with linespoints pointtype 3 + i linecolor i title name(i)
