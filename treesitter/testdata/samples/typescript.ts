import * as fs from "fs";
import { Injectable } from "@angular/core";
// A cart.
@Injectable()
export class Cart<T extends number> implements Iterable<T> {
  constructor(private readonly prices: T[]) {}
  total(): number { return this.prices.reduce((a, b) => a + b, 0 as number); }
  [Symbol.iterator]() { return this.prices[Symbol.iterator](); }
}
export interface Shop { name?: string; open(): Promise<void>; }
type Id = string | number;
enum Color { Red, Green = 5 }
