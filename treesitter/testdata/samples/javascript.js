import fs, { readFileSync as read } from "fs";
const path = require("path");
// a cart
export class Cart {
  #prices = [];
  add(p) { this.#prices.push(p); return this; }
}
export const total = async (ps) => ps?.reduce((a, b) => a + b, 0) ?? 0;
