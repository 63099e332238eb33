load '../support/style.gp'
set multiplot layout 1, 2 title 'Section 5.1: the full example'
set style fill solid 0.4
set boxwidth 0.25
set xrange [-0.6:1.6]
set xtics ('dlCBF' 0, 'standard CBF' 1)
rate = 'false positive rate of the final states'
asked = 'false positive rate by queries'
set title 'false positive rate'
set yrange [0.0013:0.0017]
set key top center
at(setting) = setting eq 'dlCBF' ? 0 : 1
plot for [s in '"dlCBF" "standard CBF"'] row(s, rate) using (at(s) - 0.15):7:8:9 with yerrorbars linecolor rgb ours \
    pointtype 7 title (at(s) ? '' : 'ours, final states'), \
  for [s in '"dlCBF" "standard CBF"'] row(s, asked) using (at(s)):7:8:9 with yerrorbars linecolor rgb '#6fa8dc' \
    pointtype 5 title (at(s) ? '' : 'ours, by queries'), \
  for [s in '"dlCBF" "standard CBF"'] row(s, rate) using (at(s) + 0.15):6 with points linecolor rgb formula \
    pointtype 2 title (at(s) ? '' : 'formula'), \
  for [s in '"dlCBF" "standard CBF"'] row(s, asked) using (at(s) + 0.3):4 with points linecolor rgb paper \
    pointtype 7 title (at(s) ? '' : 'paper')
set title 'bits per key'
set yrange [0:60]
unset key
set boxwidth 0.5
plot row('dlCBF', 'bits of all cells') using (0):($6 / 49152) with boxes linecolor rgb ours, \
  row('standard CBF', 'bits of all counters') using (1):($6 / 49152) with boxes linecolor rgb paper
unset multiplot
