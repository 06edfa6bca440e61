<?php

namespace Shop\Money;

/** What is bought. */
abstract class Cart extends Base implements Named, \Countable
{
    use Prices;

    private $items = [];

    /** Adds. */
    public function add(int $item): int
    {
        $twice = fn ($x) => $x * 2;
        return $this->total() + self::limit() + helper($item);
    }

    public function total(): int { return 1; }

    static function limit() { return 10; }

    abstract function pay(): void;
}

interface Named { public function name(): string; }

trait Prices { function price() { return 'größe'; } }

enum State: string { case Open = 'o'; function label() { return ''; } }

function helper($x) { return $x; }
