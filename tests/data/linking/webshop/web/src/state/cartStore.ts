export interface CartState {
  items: string[];
}

export class CartStore {
  private state: CartState = { items: [] };

  subscribe(listener: () => void): () => void {
    return listener;
  }

  reset(): void {
    this.state = { items: [] };
  }

  #notify(): void {}
}

export const selectTotal = (state: CartState): number => state.items.length;
