export class Checkout {
  private step = 0;

  next(): void {
    this.step += 1;
  }

  reset(): void {
    this.step = 0;
  }

  get isDone(): boolean {
    return this.step > 3;
  }
}

function handleSubmit() {}
