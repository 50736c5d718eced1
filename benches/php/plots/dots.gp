# One row a limiter: a dot, and a line to a second number where there is one.
set macros
height = 70 + 21 * rows
load style
set datafile separator "\t"
set yrange [1 - rows : 1]
set border 1
set xlabel x_label
if (logarithmic) set logscale x
if (!logarithmic) set xrange [0:*]
set format x '%g'
set ytics scale 0 (@labels)
set grid xtics noytics
set key outside top center horizontal reverse Left samplen 1 width -4
plot for [k = 1:3] data using ($4 == k ? $2 : NaN):1:($3 - $2):(0) with vectors nohead linestyle k linewidth 1 notitle, \
     for [k = 1:3] data using ($4 == k ? $2 : NaN):1 with points linestyle k title word('token_bucket symfony/rate-limiter other', k)
