// Counts and prints the steps of an end-to-end run: `ok N - …` or `not ok N - …`, numbered on from E2E_STEP.
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const readable = (error) => error.message.replace(/\u001b\[\d+m/g, '').split('\n').slice(0, 6).join('\n#   ');

const MOST_FAILURES = 4;  // then the rest of a phase only repeats the first one's consequences

export class Steps {
  constructor({ workbench, screenshots, results }) {
    this.workbench = workbench;
    this.screenshots = screenshots;
    this.results = results;
    this.number = Number(process.env.E2E_STEP ?? 0);
    this.failures = 0;
    mkdirSync(screenshots, { recursive: true });
  }

  /** Runs one step; a failure is reported with a screenshot, and the next step goes on. */
  async step(what, body) {
    if (this.failures >= MOST_FAILURES) return;
    this.number += 1;
    const start = Date.now();
    try {
      const shown = await body();
      this.report(`ok ${this.number} - ${what}${shown ? `: ${shown}` : ''} (${Date.now() - start} ms)`);
    } catch (error) {
      this.failures += 1;
      this.report(`not ok ${this.number} - ${what}: ${readable(error)}`);
      await this.shot('failure').catch(() => {});
    }
  }

  /** Keeps what is on screen as NN-name.png, NN being the current step. */
  async shot(name) {
    const number = String(this.number).padStart(2, '0');
    await this.workbench.page.waitForTimeout(300);  // hovers fade in
    await this.workbench.screenshot(join(this.screenshots, `${number}-${name}.png`));
  }

  report(line) {
    console.log(line);
    appendFileSync(this.results, `${line}\n`);
  }

  /** For the end of a phase: what the browser said, where something failed. */
  finish() {
    if (this.failures === 0) return;
    console.log([...new Set(this.workbench.log)].slice(-8).map((line) => `# ${line.slice(0, 300)}`).join('\n'));
    process.exitCode = 1;
  }
}
