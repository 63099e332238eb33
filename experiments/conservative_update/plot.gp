load '../support/style.gp'
set title 'Conservative update: mean excess of absent keys, predicted and measured'
set ylabel 'mean excess'
set xlabel 'exponent of the Zipf law'
set logscale y
set xrange [-0.1:1.5]
set key bottom left
sketches = '"3 x 65536" "4 x 16384" "4 x 4096" "8 x 4096"'
exponents = '0 0.6 0.8 1 1.2 1.4'
excess = 'mean excess of keys that occurred 0 times'
plot for [s = 1:4] for [i = 1:6] named(word(sketches, s) . ' Zipf ' . word(exponents, i), excess . ' from above') \
    using 3:($6 * 0.8) with points pointtype (2 * s + 3) linecolor rgb formula title (i > 1 ? '' : word(sketches, s) . ', predicted'), \
  for [s = 1:4] for [i = 1:6] named(word(sketches, s) . ' Zipf ' . word(exponents, i), excess) \
    using 3:7 with points pointtype (2 * s + 2) linecolor rgb ours title (i > 1 ? '' : word(sketches, s) . ', measured')
