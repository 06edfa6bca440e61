import base, { rate as taxRate, type Money } from "./money.js";
import * as log from "../log";
export * from "./cart";
export { total as sum } from "./total";

/** Charges a card. */
export async function charge(amount: number): Promise<void> {
  const inner = (n: number): number => n * taxRate(amount);
  await pay(inner(amount));
}

function pay(amount: string): void;
function pay(amount: number): void;
function pay(amount: unknown): void {
  log.info(amount);
}

declare function external(a: number): string;
declare function external(a: string): string;

export abstract class Shop<T> extends base.Store<T> implements Openable, ns.Closable {
  static #count = 0;
  private readonly onClose: () => void = () => {
    this.close();
  };
  handlers = {
    open: () => 1,
    close() {
      return 2;
    },
  };

  constructor(name: string);
  constructor(name: string, size: number);
  constructor(private name: string, size = 1) {
    super(name);
  }

  get size(): number {
    return Shop.#count;
  }
  set size(value: number) {
    Shop.#count = value;
  }

  abstract open(): void;

  close(this: Shop<T>): void {
    function helper() {
      return [1, 2].map((x) => x + 1);
    }
    helper();
  }
  async *[Symbol.asyncIterator]() {
    yield 1;
  }
  "quoted-name"() {}
  42() {}
  ["comp" + "uted"]() {
    const hidden = () => 0;
  }
}

@decorated({ by: "me" })
@twice
export class Decorated {
  @input() label = "";
  @listen("x")
  handle(): void {}
  @bound
  arrow = async () => {};
}

interface Openable extends Base, Other<string> {
  open(): void;
  close?(reason: string): void;
  readonly prop: () => void;
  new (x: number): Openable;
}

enum Color {
  Red = "red",
}

type Handler = { handle(event: string): void } | ((event: string) => void);

namespace Outer.Inner {
  export const value = 1;
  export function nested() {}
}

declare module "foo" {
  export function inModule(): void;
}

declare global {
  interface Window {
    shop(): void;
  }
}

const api = {
  get: (id: string) => id,
  put() {},
  nested: { deep: function () {} },
  [key]: () => 1,
} as const;
const wrapped = (function named() {
  return 1;
}) satisfies () => number;
const Made = class extends Shop<number> {
  open() {}
};
let a = 1,
  b = () => 2;
api.get = function () {
  return "";
};
register({ callback: () => 1, other() {} });
export default class {
  run() {}
}
