import React, { useState } from "react";
import type { Item } from "./item";
// A cart.
export function Cart({ items }: { items: Item[] }) {
  const [n, setN] = useState<number>(items.length);
  return <Button isActive onClick={() => setN(n + 1)}>{n} items</Button>;
}
