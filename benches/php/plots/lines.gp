# A line a series over a number. Lines of one colour may differ in their dashes.
set macros
height = 430
load style
set datafile separator "\t"
title_of(i) = titles[i == 1 ? 1 : cut(i - 1) + 1 : i == series ? strlen(titles) : cut(i) - 1]
# Where the n-th bar is that parts the titles.
cut(n) = n == 1 ? strstrt(titles, '|') : cut(n - 1) + strstrt(titles[cut(n - 1) + 1 : *], '|')
set title heading
set xlabel x_label
set ylabel y_label
set logscale x x_base
set logscale y
set format y y_format
if (exists("x_format")) set format x x_format
@settings
set key outside top center horizontal reverse Left samplen 3
if (!exists("styles")) styles = '1 2 3 4 5'; dashes = '1 1 1 1 1'
plot for [i = 1:series] data using 1:(column(i + 1)) with linespoints linestyle int(word(styles, i)) dashtype int(word(dashes, i)) title title_of(i)
