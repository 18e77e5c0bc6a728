import React, { useState as use } from 'react';
const { join } = require('path');

export default class Cart extends Base {
  #items = [];
  static limit = 20;

  constructor(owner, ...items) {
    super(owner);
    this.#items.push(...items);
  }

  get total() {
    return this.#items.reduce((sum, i) => sum + i.price, 0);
  }

  async add(item, count = 1) {
    for (let i = 0; i < count; i++) {
      this.#items.push({ ...item, index: i });
    }
    if (count > Cart.limit) throw new Error(`too many: ${count}`);
    await this.save?.();
    return this;
  }
}

var a = 1, b = new Buffer('x');
function describe(x) {
  switch (typeof x) {
    case 'string':
      return x.substr(0, 3);
    default:
      return x === null ? 'none' : x.name || 'unknown';
  }
}

try {
  const cart = new Cart('me');
  cart.add({ name: 'a', price: 1 }, 2).then((c) => console.log(c.total));
} catch (e) {
  console.error(e.message, [1, 2, 3].map(n => n * 2));
}
