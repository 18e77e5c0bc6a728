import { Item, type Store } from "./item";
import * as fs from "fs";

enum Kind { Small = 1, Large }

export abstract class Cart<T extends Item> implements Store {
  private readonly items: T[] = [];
  constructor(public owner: string, protected limit?: number) {}

  add(item: T, count: number = 1): this {
    for (let i = 0; i < count; i++) this.items.push(item);
    return this;
  }

  get total(): number {
    return this.items.map((i) => i.price as number).reduce((a, b) => a + b, 0);
  }

  abstract save(path: string): Promise<void>;
}

type Handler = (e: Event, kind: Kind | undefined) => void;

export function describe<T>(x: T | null): string {
  if (x === null) return "none";
  const text = <string>(x as any).name;
  return text!.toUpperCase();
}

declare module "shop" {
  export const version: string;
}
