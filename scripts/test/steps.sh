# The steps of a test run, for scripts to source: step TITLE begins one, end_steps ends the last. At its end each
# step prints how long it took. at_once COMMAND... runs commands at once and prints their output in turn.

step_began=
end_steps() { [ -z "$step_began" ] || printf '(%d s)\n' $(($(date +%s) - step_began)); }
step() {
    end_steps
    printf '\n== %s\n' "$1"
    step_began=$(date +%s)
}
at_once() {
    outputs=$(mktemp -d)
    for command; do
        # Its words are a script and arguments.
        # shellcheck disable=SC2086
        { $command >"$outputs/$(basename "$command")" 2>&1 || touch "$outputs/failed"; } &
    done
    wait
    status=0
    [ ! -e "$outputs/failed" ] || status=1
    rm -f "$outputs/failed"
    cat "$outputs"/*
    rm -r "$outputs"
    return $status
}
