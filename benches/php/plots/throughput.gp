# A line a limiter over the number of processes.
height = 430
load style
set datafile separator "\t"
title_of(i) = titles[i == 1 ? 1 : cut(i - 1) + 1 : i == series ? strlen(titles) : cut(i) - 1]
# Where the n-th bar is that parts the titles.
cut(n) = n == 1 ? strstrt(titles, '|') : cut(n - 1) + strstrt(titles[cut(n - 1) + 1 : *], '|')
set title heading
set xlabel 'processes'
set ylabel 'decisions a second'
set logscale x 2
set logscale y
set format y '%.0s %c'
set xrange [0.9:9]
set xtics (1, 2, 4, 8)
set key outside top center horizontal reverse Left samplen 2
plot for [i = 1:series] data using 1:(column(i + 1)) with linespoints linestyle i title title_of(i)
