# Completes the words of token-bucket in bash. The command's own help tells what there is.
_token_bucket() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')" -- "$word")
    elif [ "$before" = --user ]; then
        mapfile -t COMPREPLY < <(compgen -u -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p')" -- "$word")
    elif [ "$command" = limits ] && [ "$COMP_CWORD" = 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W check -- "$word")
    fi
}
# Where nothing else fits, files.
complete -o default -F _token_bucket token-bucket
