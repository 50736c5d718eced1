<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** The directives of php-fpm's own php.ini and conf.d, which a pool has unless its file overrides them. */
final class PhpIni
{
    /**
     * Finds them where Debian keeps them: DIR/php.ini and DIR/conf.d beside DIR/pool.d.
     *
     * @param string         $file   of a pool
     * @param string         $prefix of the directives
     * @param list<int>|null $owners the users who may change the files; null: it does not matter
     *
     * @return array<string, array<string, string>> the directives of each file, in the order in which PHP reads the files; none if there is no php.ini
     *
     * @throws CommandError if a file cannot be read, or other users may change it
     */
    public static function ofPool(string $file, string $prefix, ?array $owners): array
    {
        $pools = (string) realpath(dirname($file));
        $folder = dirname($pools);
        if (basename($pools) !== 'pool.d' || !is_file("$folder/php.ini")) {
            return [];
        }
        FileTrust::expect("$folder/conf.d", $owners);
        $directives = [];
        $names = is_dir("$folder/conf.d") ? @scandir("$folder/conf.d") : [];
        if ($names === false) {
            throw self::unreadable("$folder/conf.d");
        }
        $names = preg_grep('~\.ini$~D', $names);
        foreach (array_filter(["$folder/php.ini", ...array_map(static fn (string $name): string => "$folder/conf.d/$name", $names ?: [])], 'is_file') as $path) {
            $directives[$path] = self::read($path, $prefix, $owners);
        }
        return $directives;
    }

    /**
     * @param list<int>|null $owners
     *
     * @return array<string, string>
     */
    private static function read(string $path, string $prefix, ?array $owners): array
    {
        $text = IniFile::read($path, $owners) ?? throw self::unreadable($path);
        // Such a section reaches to the end of the file. It is about requests of one folder or host.
        $text = (string) preg_replace('~^[ \t]*\[(?:PATH|HOST).*~ims', '', $text);
        // ${NAME} is a variable of php-fpm's environment, and stays as it is: that of this command has another one, or root's secrets.
        $variables = [];
        $text = (string) preg_replace_callback('~(\$\{(?:[^${}]|\$(?!\{)|(?1))*\})|\$\{~', static function (array $found) use (&$variables): string {
            $mark = "\x1a" . count($variables) . "\x1a";
            $variables[$mark] = $found[0];
            return $mark;
        }, $text);
        error_clear_last();
        // As php.ini is read: on is "1".
        $values = @parse_ini_string($text, false, INI_SCANNER_NORMAL);
        if ($values === false) {
            throw new CommandError(Text::printable($path) . ': ' . trim(str_replace(' in Unknown', '', error_get_last()['message'] ?? 'PHP cannot read this file')));
        }
        $values = array_filter($values, static fn (mixed $value, int|string $name): bool => is_string($value) && str_starts_with((string) $name, $prefix), ARRAY_FILTER_USE_BOTH);
        return array_map(static fn (string $value): string => strtr($value, $variables), $values);
    }

    private static function unreadable(string $path): CommandError
    {
        return new CommandError('php-fpm reads this, too, and this command cannot: ' . Text::printable($path));
    }
}
