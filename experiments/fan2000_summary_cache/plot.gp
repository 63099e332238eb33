load '../support/style.gp'
set multiplot layout 1, 2
set xlabel 'sent when so many documents are new'
set logscale x
set xrange [0.00015:0.13]
set xtics ('at once' 0.0002, '0.1%%' 0.001, '1%%' 0.01, '2%%' 0.02, '5%%' 0.05, '10%%' 0.1) font ',9'
set xtics rotate by 40 right
kinds = '"exact directory" "Bloom 10 bits k = 7" "d-left r = 14"'
colors = '#444444 #1f5fa8 #c8501e'
at(kind, quantity) = sprintf( \
  '< awk -F, ''$1 ~ /^(curve )?16 proxies %s/ && $2 == "%s" && $3 != ""'' results.csv', kind, quantity)
all(setting, quantity) = sprintf( \
  '< awk -F, ''$1 == "16 proxies %s" && $2 == "%s" { print "0.00015," $7; print "0.13," $7 }'' results.csv', \
  setting, quantity)
set title 'Bytes a request for updates, 16 proxies'
set logscale y
set yrange [10:100000]
set key at graph 1, 1 right font ',8'
everyone = 'ask everyone (ICP)'
bytes = 'bytes a request for updates'
plot all(everyone, 'bytes a request') using 1:2 with lines linecolor rgb '#2e8b57' title 'all that ICP asks', \
  at('Bloom 10 bits k = 7', bytes . ' by full copies') using 3:7 with linespoints dashtype 3 pointtype 6 \
    linecolor rgb ours title 'Bloom 10 bits k = 7: full copies', \
  for [i = 1:3] at(word(kinds, i), bytes) using 3:7 with linespoints pointtype 7 \
    linecolor rgb word(colors, i) title word(kinds, i)
set title 'Answers that are wrong, a request'
unset logscale y
set yrange [0:0.07]
set key at graph 1, 1 right font ',8'
plot for [i = 1:3] at(word(kinds, i), 'lost remote hits a request') using 3:7 with linespoints pointtype 7 \
    linecolor rgb word(colors, i) title word(kinds, i) . ': lost hits', \
  for [i = 1:3] at(word(kinds, i), 'false hits a request') using 3:7 with linespoints pointtype 6 dashtype 3 \
    linecolor rgb word(colors, i) title word(kinds, i) . ': false hits'
unset multiplot
