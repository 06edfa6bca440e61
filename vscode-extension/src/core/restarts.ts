/** How often a crashed server may be started again: never a crash loop. */
export class RestartBudget {
  private readonly times: number[] = [];

  /**
   * @param most how many restarts are allowed within the window
   * @param windowMs the window's length in milliseconds
   */
  constructor(
    private readonly most = 3,
    private readonly windowMs = 180_000,
  ) {}

  /** Whether one more restart at `now` (milliseconds) is allowed; it is counted if so. */
  allow(now: number): boolean {
    while (this.times[0] !== undefined && now - this.times[0] >= this.windowMs) {
      this.times.shift();
    }
    if (this.times.length >= this.most) {
      return false;
    }
    this.times.push(now);
    return true;
  }

  /** Starts afresh, when the user asks for a restart. */
  reset(): void {
    this.times.length = 0;
  }
}
