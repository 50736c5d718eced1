<?php

declare(strict_types=1);

namespace TokenBucket\Psr15;

use Psr\Http\Message\ServerRequestInterface;

/**
 * The tokens that a request costs, by its route; the first route that fits counts.
 *
 *     new CostByRoute(['POST /reports' => 10, '/search' => 2])
 */
final class CostByRoute
{
    /** @var list<array{Route, int}> */
    private readonly array $costs;

    /**
     * @param array<string, int> $costs 0 or more for each route, see Route
     * @param int $otherwise the cost of all other requests
     *
     * @throws \InvalidArgumentException if a route or a cost is invalid
     */
    public function __construct(array $costs, private readonly int $otherwise = 1)
    {
        self::checkCost('other requests', $otherwise);
        $parsed = [];
        foreach ($costs as $route => $cost) {
            self::checkCost("\"$route\"", $cost);
            $parsed[] = [Route::parse((string) $route), $cost];
        }
        $this->costs = $parsed;
    }

    public function __invoke(ServerRequestInterface $request): int
    {
        foreach ($this->costs as [$route, $cost]) {
            if ($route->matches($request)) {
                return $cost;
            }
        }
        return $this->otherwise;
    }

    private static function checkCost(string $what, mixed $cost): void
    {
        if (!is_int($cost) || $cost < 0) {
            $given = is_int($cost) ? $cost : get_debug_type($cost);
            throw new \InvalidArgumentException("The cost of $what must be a whole number of 0 or more, $given given");
        }
    }
}
