# Lines and letters in `ink`, by default a grey that is seen on white and on black, nothing behind them; colours of
# Okabe and Ito, which colour-blind people tell apart, and a shape of its own for each.
set encoding utf8
if (!exists("width")) width = 860
if (!exists("ink")) ink = '#7d7d7d'
set terminal svg size width, height dynamic font 'sans-serif,13' noenhanced
set output output_file
set border 3 linecolor rgb ink
set tics nomirror textcolor rgb ink
set xlabel textcolor rgb ink
set ylabel textcolor rgb ink
set title textcolor rgb ink
set key textcolor rgb ink
set grid linecolor rgb ink linewidth 0.3 dashtype 3
set style line 1 linecolor rgb '#0a84d6' linewidth 2 pointtype 7 pointsize 0.8
set style line 2 linecolor rgb '#e69f00' linewidth 2 pointtype 5 pointsize 0.8
set style line 3 linecolor rgb '#009e73' linewidth 2 pointtype 9 pointsize 1.0
set style line 4 linecolor rgb '#cc79a7' linewidth 2 pointtype 13 pointsize 1.1
set style line 5 linecolor rgb '#d55e00' linewidth 2 pointtype 11 pointsize 1.0
