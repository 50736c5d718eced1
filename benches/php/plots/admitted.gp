# How many calls each limiter has admitted, over time. As wide as a phone, in the ink of a light or a dark page.
width = 360
height = 350
load style
set datafile separator "\t"
set xlabel 'seconds' offset 0,0.4
set xrange [0:last]
set xtics 30
set yrange [0:*]
set ylabel 'calls admitted' offset 1.6
set lmargin 6.5
set rmargin 2
set tmargin at screen 0.8
set key at screen 0.04, screen 0.99 left top vertical maxrows 3 reverse Left samplen 2
# Dashes tell the second from the others without its colour.
set style line 6 linecolor rgb '#d55e00' linewidth 2 dashtype (5, 2)
plot for [i = 1:series] data using 1:(column(i + 1)) with steps linestyle int(word(styles, i)) title titles[title_length * (i - 1) + 1 : title_length * i]
