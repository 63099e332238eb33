load '../support/style.gp'
set title 'Load carried: without moves, and with the search for moves'
set ylabel 'share of the cells in use'
set yrange [0.5:1.02]
set xrange [-0.6:8.6]
set key bottom right
shapes = '2x8 3x8 4x8 2x16 3x16 4x16 2x32 3x32 4x32'
set xtics ('2x8' 0, '3x8' 1, '4x8' 2, '2x16' 3, '3x16' 4, '4x16' 5, '2x32' 6, '3x32' 7, '4x32' 8)
safe = 'load at which 1e-9 of the buckets are overfull'
at(i) = i - 1
plot for [i = 1:9] row(word(shapes, i) . ' insert only without moves', safe) using (at(i) - 0.2):6 \
    with points pointtype 6 linecolor rgb formula title (i > 1 ? '' : 'no moves, insert only (fluid limit, 1e-9)'), \
  for [i = 1:9] row(word(shapes, i) . ' with churn without moves', safe) using (at(i) - 0.1):6 \
    with points pointtype 7 linecolor rgb formula title (i > 1 ? '' : 'no moves, churn (fluid limit, 1e-9)'), \
  for [i = 1:9] row(word(shapes, i) . ' insert only 65536 cells', 'least') using (at(i) + 0.1):7 \
    with points pointtype 6 linecolor rgb ours title (i > 1 ? '' : 'moves, insert only, 65,536 cells, least of 200'), \
  for [i = 1:9] row(word(shapes, i) . ' with churn 4096 cells', 'least') using (at(i) + 0.2):7 \
    with points pointtype 7 linecolor rgb ours title (i > 1 ? '' : 'moves, churn, 4,096 cells, least of 200')
