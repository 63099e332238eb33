load '../support/style.gp'
set title 'Tables 3 to 5: printed false positive ratio over the formula'
set xlabel 'bits per key, m/n'
set ylabel 'printed over formula'
set logscale y
set xrange [1:33]
set yrange [0.5:20]
plot 1 linecolor rgb formula notitle, \
  '< awk -F, ''$1 ~ /^curve Table/ && $2 ~ /^m/'' results.csv' using 3:($4/$6) with points linecolor rgb ours \
    pointtype 6 pointsize 0.5 title 'the formula, rounded', \
  '< awk -F, ''$1 ~ /^Table/ && $2 ~ /^m/'' results.csv' using 3:($4/$6) with points linecolor rgb paper \
    pointtype 7 title 'misprints: k = 15 and 16 at m/n = 30'
