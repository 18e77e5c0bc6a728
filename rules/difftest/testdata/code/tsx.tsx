import React, { useState } from "react";
import { Item } from "./item";

interface Props {
  items: Item[];
  onBuy?: (item: Item, count: number) => void;
}

export const Cart: React.FC<Props> = ({ items, onBuy }) => {
  const [open, setOpen] = useState<boolean>(false);
  const total = items.reduce((sum, i) => sum + i.price, 0);
  if (!open) {
    return <button onClick={() => setOpen(true)}>Open</button>;
  }
  return (
    <div className="cart" id={"cart-" + total}>
      {items.map((item) => (
        <Row key={item.id} item={item} onClick={() => onBuy?.(item, 1)} />
      ))}
      <p>Total: {total.toFixed(2)}</p>
    </div>
  );
};

function Row(props: { item: Item; onClick(): void }) {
  const { item } = props;
  return <li onClick={props.onClick}>{item.name as string}</li>;
}
