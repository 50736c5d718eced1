# The steps of a test run, for scripts to source: step TITLE begins one, end_steps ends the last. At its end each
# step prints how long it took.

step_began=
end_steps() { [ -z "$step_began" ] || printf '(%d s)\n' $(($(date +%s) - step_began)); }
step() {
    end_steps
    printf '\n== %s\n' "$1"
    step_began=$(date +%s)
}
