<?php
namespace Shop;
use Psr\Log\LoggerInterface as Logger;
// A cart.
class Cart {
    private array $prices = [];
    public function __construct(private Logger $log) {}
    public function add(int $p): self { $this->prices[] = $p; return $this; }
}
function total(Cart $c): int { return 0; }
