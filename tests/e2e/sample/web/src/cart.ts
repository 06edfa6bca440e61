// The cart in the browser: what the server will charge must be what is shown here.

export interface CartLine {
  article: string;
  pieces: number;
  cents: number;
}

export const FREE_SHIPPING_FROM = 5000;
export const SHIPPING = 490;

export function cartTotal(lines: CartLine[]): number {
  const goods = lines.reduce((sum, line) => sum + line.cents * line.pieces, 0);
  return goods < FREE_SHIPPING_FROM ? goods + SHIPPING : goods;
}

export function addToCart(lines: CartLine[], added: CartLine): CartLine[] {
  const known = lines.find((line) => line.article === added.article);
  if (known === undefined) {
    return [...lines, added];
  }
  return lines.map((line) => (line === known ? { ...line, pieces: line.pieces + added.pieces } : line));
}
