<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/** Pieces of HTML. */
final class Html
{
    /** Text, or the value of a quoted attribute. */
    public static function text(string $text): string
    {
        return Text::html($text, 400);
    }

    /**
     * @param list<string>       $headings text; may be empty
     * @param list<list<string>> $rows     HTML; the first cell of each is its heading
     */
    public static function table(string $caption, array $headings, array $rows): string
    {
        $html = '<div class="scroll"><table><caption>' . self::text($caption) . "</caption>\n";
        if ($headings !== []) {
            $html .= '<tr>' . implode('', array_map(static fn (string $heading): string => '<th scope="col">' . self::text($heading) . '</th>', $headings)) . "</tr>\n";
        }
        foreach ($rows as $cells) {
            $html .= "<tr><th scope=\"row\">" . (string) array_shift($cells) . '</th>' . implode('', array_map(static fn (string $cell): string => "<td>$cell</td>", $cells)) . "</tr>\n";
        }
        return "$html</table></div>\n";
    }
}
