# free_port prints a TCP port of 127.0.0.1 that no process listens on. For scripts to source in the project's folder.

free_port() { "${php:-php}" -n -r 'require "php-tests/base.inc"; echo free_port();'; }
