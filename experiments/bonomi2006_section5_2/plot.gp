load '../support/style.gp'
set multiplot layout 1, 2 title 'Section 5.2: trials with an overflow, and rescues per trial'
set style fill solid 0.4
set boxwidth 0.5
unset key
set title 'load 6.5, no moves: share of trials'
set yrange [0:0.04]
set xrange [-0.6:3.6]
set xtics ('ours' 0, 'formula' 1, 'paper, seen' 2, 'paper, expected' 3) rotate by -25
plot row('load 6.5 moves none', 'trials with an overflow') using (0):7 with boxes linecolor rgb ours, \
  '' using (0):7:8:9 with yerrorbars linecolor rgb 'black' pointtype 7, \
  '' using (1):6 with boxes linecolor rgb formula, \
  '' using (2):4 with boxes linecolor rgb paper, \
  row('load 6.5 moves none', 'trials with an overflow as the paper expects them from that') \
    using (3):6 with boxes linecolor rgb paper
set title 'load 6.75, first-subtable moves: rescues'
set yrange [0:110]
set xrange [-0.6:2.6]
set xtics ('ours' 0, 'formula' 1, 'paper, range' 2) rotate by -25
plot row('load 6.75 moves first-subtable', 'rescues per trial') using (0):7 with boxes linecolor rgb ours, \
  '< awk -F, ''$1 == "load 6.75 moves first-subtable" { v[$2] = $7 } END { print v["rescues per trial"] "," ' . \
    'v["rescues per trial: least"] "," v["rescues per trial: most"] }'' results.csv' \
    using (0):1:2:3 with yerrorbars linecolor rgb 'black' pointtype 7, \
  row('load 6.75 moves first-subtable', 'rescues per trial') using (1):6 with boxes linecolor rgb formula, \
  '+' using (2):(70):(40):(100) every ::0::0 with yerrorbars linecolor rgb paper linewidth 3 pointtype 0
unset multiplot
