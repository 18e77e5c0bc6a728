<?php
namespace Shop;

use Shop\Model\Item;

class Cart implements \Countable
{
    private array $items = [];

    public function __construct(private string $owner, ?Item $first = null)
    {
        if ($first !== null) {
            $this->items[] = $first;
        }
    }

    public function add(Item $item, int $count = 1): static
    {
        for ($i = 0; $i < $count; $i++) {
            array_push($this->items, $item);
        }
        return $this;
    }

    public function total(): float
    {
        $sum = 0;
        foreach ($this->items as $key => $item) {
            $sum += $item->price * $item->count;
        }
        return $sum;
    }

    public function count(): int
    {
        return count($this->items);
    }
}

function load($path) {
    $data = split(',', file_get_contents($path));
    try {
        return new Cart($data[0], new Item($data[1], 2));
    } catch (\Exception $e) {
        echo "failed: ", $e->getMessage(), "\n";
        return null;
    }
}

$cart = load('a.csv');
$names = array_map(function ($i) { return $i->name; }, $cart->items);
echo isset($names[0]) ? $names[0] : 'none';
