# The slowest call of each moment, over time.
height = 540
load style
set datafile separator "\t"
cut(n) = n == 1 ? strstrt(titles, '|') : cut(n - 1) + strstrt(titles[cut(n - 1) + 1 : *], '|')
title_of(i) = titles[i == 1 ? 1 : cut(i - 1) + 1 : i == words(files) ? strlen(titles) : cut(i) - 1]
set title heading
set xlabel 'seconds since the start'
set ylabel 'ms that the slowest call took'
set logscale y
set format y '%g'
set xrange [0:seconds]
set arrow from fails, graph 0 to fails, graph 1 nohead linecolor rgb '#7d7d7d' dashtype 2
set arrow from back, graph 0 to back, graph 1 nohead linecolor rgb '#7d7d7d' dashtype 2
set label 'fails' at fails, graph 0.97 offset 0.5 textcolor rgb '#7d7d7d'
set label 'is back' at back, graph 0.97 offset 0.5 textcolor rgb '#7d7d7d'
set key outside top center horizontal reverse Left samplen 2
# A call that takes long is a line as long as it. The first comes last, so that it is seen.
plot for [i = words(files):1:-1] word(files, i) using 1:2:($2 / 1000):(0) with vectors nohead linestyle i linewidth 1 + i notitle, \
     for [i = words(files):1:-1] word(files, i) using 1:2 with points linestyle i pointsize 0.5 notitle, \
     for [i = 1:words(files)] NaN with points linestyle i title title_of(i)
