import { addToCart, cartTotal, type CartLine } from './cart';

export class CheckoutPage {
  private lines: CartLine[] = [];

  add(line: CartLine): void {
    this.lines = addToCart(this.lines, line);
  }

  price(): string {
    return formatCents(cartTotal(this.lines));
  }
}

export function formatCents(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} €`;
}
