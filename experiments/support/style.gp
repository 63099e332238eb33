# What all plots share. In the folder of an experiment: gnuplot plot.gp
set terminal svg size 800,480 font 'Helvetica,13' background 'white'
set output 'plot.svg'
set datafile separator ','
set border 3
set tics nomirror
set grid ytics linecolor '#dddddd'
set key top left

ours = '#1f5fa8'
paper = '#c8501e'
formula = '#444444'

# Rows of results.csv by the beginning of their setting and by their quantity.
row(setting, quantity) = sprintf( \
  '< awk -F, ''index($1, "%s") == 1 && $2 == "%s"'' results.csv', setting, quantity)
# Rows of the setting of this very name: 'theta 1', not 'theta 10'.
named(setting, quantity) = sprintf('< awk -F, ''$1 == "%s" && $2 == "%s"'' results.csv', setting, quantity)
