# The steps of a test run, for scripts to source.
#
#   step TITLE COMMAND...   runs a command and says how long it took; if it fails, the run goes on
#   at_once COMMAND...      as a step's command: runs several at once, each a text of words, and prints their output in turn
#   end_steps WORDS         repeats what was not run and what passed at the second try, then says what failed and how to run that
#                           alone, and ends the script with 1; prints the words if nothing failed

steps=$(mktemp -d)
trap 'rm -rf "$steps"' EXIT
: >"$steps/output"
: >"$steps/failed"

step() {
    printf '\n== %s\n' "$1"
    shift
    began=$(date +%s)
    { "$@" 2>&1 || [ "$1" = at_once ] || echo "$*" >>"$steps/failed"; } | tee -a "$steps/output"
    printf '(%d s)\n' $(($(date +%s) - began))
}
at_once() {
    mkdir "$steps/at_once"
    for command; do
        # Its words are a script and arguments.
        # shellcheck disable=SC2086
        { $command >"$steps/at_once/$(basename "$command")" 2>&1 || echo "$command" >>"$steps/failed"; } &
    done
    wait
    cat "$steps/at_once"/*
    rm -r "$steps/at_once"
}
end_steps() {
    echo
    grep -aE '^(SKIP |Not run: |This Debian has no |Passed alone, )' "$steps/output" || true
    if [ -s "$steps/failed" ]; then
        echo "Failed; each can be run alone:"
        sed "s|^|    ${EXTENSION:+EXTENSION=$EXTENSION }scripts/servers.sh |" "$steps/failed"
        exit 1
    fi
    echo "$1"
}
