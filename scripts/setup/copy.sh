# For scripts to source: copies files and folders so that everyone can read them, whatever umask the checkout was made with.
umask 022

# Copies a folder with all that is below it; programs stay programs. $as_root goes before the command.
copy_folder() {
    (cd "$1" && find . -type f) | while read -r file; do
        mode=644
        [ ! -x "$1/$file" ] || mode=755
        ${as_root-} install -D -m "$mode" "$1/$file" "$2/${file#./}"
    done
}

# Copies the commands, which the named PHP will run: the php on the PATH may be another version, without the extension.
copy_commands() {
    copy_folder bin "$1"
    for command in bin/*; do
        ${as_root-} sed -i "1s|^#!.*php.*|#!$2|" "$1/${command#bin/}"
    done
}
