<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * An inline SVG of the share of clients that a limit denies something, against its capacity; both axes are logarithmic.
 *
 * @phpstan-import-type Curve from Findings
 */
final class CurvePlot
{
    private const WIDTH = 360;
    private const HEIGHT = 220;
    private const LEFT = 60;
    private const RIGHT = 12;
    private const TOP = 12;
    private const BOTTOM = 40;
    /** The axis of shares goes from 100 % down to 0.01 %; what is lower, also none, is at its foot. */
    private const DECADES = 4;

    private float $decadesOfCapacity;

    /** @param Curve $curve */
    public function __construct(private array $curve)
    {
        $deepest = max(10, max(array_column($curve['points'], 0)));
        $this->decadesOfCapacity = ceil(log10($deepest) - 1e-9);
    }

    /** @param float $deny_share percent of clients that a suggestion may deny something */
    public function render(float $deny_share, ?int $suggested): string
    {
        $label = Html::text("Rate {$this->curve['rate']}: share of clients denied by capacity" . ($suggested === null ? '' : "; suggested: $suggested"));
        $svg = sprintf('<svg viewBox="0 0 %d %d" role="img" aria-label="%s">', self::WIDTH, self::HEIGHT, $label) . $this->axes();
        $svg .= $this->line('allowed', self::LEFT, $this->y($deny_share), self::WIDTH - self::RIGHT, $this->y($deny_share));
        if ($suggested !== null) {
            $x = $this->x($suggested);
            $svg .= $this->line('suggested', $x, self::TOP, $x, self::HEIGHT - self::BOTTOM)
                . $this->text($x, self::TOP + 8, (string) $suggested, $x > self::WIDTH - 60 ? 'end' : 'start');
        }
        return $svg . $this->steps('all', 1) . $this->steps('people', 2) . '</svg>';
    }

    private function axes(): string
    {
        $svg = '';
        for ($decade = 0; $decade <= self::DECADES; $decade++) {
            $percent = 100 / 10 ** $decade;
            $svg .= $this->line('grid', self::LEFT, $this->y($percent), self::WIDTH - self::RIGHT, $this->y($percent))
                . $this->text(self::LEFT - 4, $this->y($percent) + 4, ($decade === self::DECADES ? "\u{2264} " : '') . "$percent %", 'end');
        }
        for ($decade = 0; $decade <= $this->decadesOfCapacity; $decade++) {
            $x = $this->x(10 ** $decade);
            $svg .= $this->line('grid', $x, self::TOP, $x, self::HEIGHT - self::BOTTOM)
                . $this->text($x, self::HEIGHT - self::BOTTOM + 14, number_format(10 ** $decade), $decade === (int) $this->decadesOfCapacity ? 'end' : 'middle');
        }
        return $svg . $this->text((self::LEFT + self::WIDTH - self::RIGHT) / 2, self::HEIGHT - 8, 'capacity: how many at once', 'middle');
    }

    /** @param int $column of the points: 1 all clients, 2 people */
    private function steps(string $class, int $column): string
    {
        $path = '';
        foreach ($this->curve['points'] as $point) {
            [$x, $y] = [$this->x($point[0]), $this->y($point[$column])];
            $path .= $path === '' ? "M$x $y" : "H{$x}V$y";
        }
        $path .= 'H' . (self::WIDTH - self::RIGHT);
        return "<path class=\"$class\" d=\"$path\"/>";
    }

    private function x(int $capacity): float
    {
        $share = log10($capacity) / $this->decadesOfCapacity;
        return round(self::LEFT + min(1, $share) * (self::WIDTH - self::LEFT - self::RIGHT), 1);
    }

    private function y(float $percent): float
    {
        $share = $percent <= 0 ? 1 : (2 - log10($percent)) / self::DECADES;
        return round(self::TOP + min(1, max(0, $share)) * (self::HEIGHT - self::TOP - self::BOTTOM), 1);
    }

    private function line(string $class, float $x1, float $y1, float $x2, float $y2): string
    {
        return "<line class=\"$class\" x1=\"$x1\" y1=\"$y1\" x2=\"$x2\" y2=\"$y2\"/>";
    }

    private function text(float $x, float $y, string $text, string $anchor): string
    {
        return "<text x=\"$x\" y=\"$y\" text-anchor=\"$anchor\">" . Html::text($text) . '</text>';
    }
}
