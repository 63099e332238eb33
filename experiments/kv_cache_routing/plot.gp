load '../support/style.gp'
set multiplot layout 1, 2
by_bits(quantity) = sprintf('< awk -F, ''$1 ~ /bits a block every 64 requests/ && $2 ~ /^%s/'' results.csv | sort -n', quantity)
alone(setting, left, right) = sprintf('< awk -F, ''$1 == "%s" && $2 ~ /^share of the blocks/ { print "%g," $7; print "%g," $7 }'' results.csv', setting, left, right)
rate(kind) = sprintf('< awk -F, ''$1 ~ /%s/ && $2 ~ /^share of the blocks/'' results.csv', kind)
set title 'Staleness: blocks found in the worker''s cache'
set xlabel 'requests of a worker between two summaries'
set logscale x
set xrange [0.01:1000]
set yrange [0:1]
set key bottom left font ',9'
plot alone('exact index of every event', 0.01, 1000) using 1:2 with lines linecolor rgb formula title 'exact index', \
  rate('10 bits a block every') using 3:7 with linespoints pointtype 7 linecolor rgb ours title '10 bits a block', \
  rate('d-left cells every') using 3:7 with linespoints pointtype 6 linecolor rgb paper title 'd-left cells', \
  alone('own requests', 0.01, 1000) using 1:2 with lines dashtype 2 linecolor rgb '#2e8b57' title 'own requests', \
  alone('sticky sessions', 0.01, 1000) using 1:2 with lines dashtype 3 linecolor rgb '#888888' title 'sticky sessions', \
  alone('random', 0.01, 1000) using 1:2 with lines dashtype 4 linecolor rgb '#bbbbbb' title 'random'
set title 'Error: a summary every 64 requests'
set xlabel 'bits a block'
unset logscale x
set xrange [0:17]
set yrange [0:0.3]
set key top right
plot by_bits('share of the requests') \
    using (real(word(strcol(1), 1))):7 with linespoints pointtype 7 linecolor rgb ours title 'prefix overstated, of all requests', \
  by_bits('share of the blocks') using (real(word(strcol(1), 1))):(1 - $7) with linespoints pointtype 6 \
    linecolor rgb paper title 'blocks not found'
unset multiplot
