/** How often a terminal shows the present number, and how often a log gets a line. */
const terminalMs = 200;
const logMs = 10_000;

/** Reports on standard error the progress of long work. A terminal has one line that changes, a log few lines. */
export class ProgressLine {
  private counted = 0;
  private shownAt = performance.now();
  private isShown = false;

  constructor(private readonly out: NodeJS.WriteStream) {}

  /** Counts one more finished item. */
  count(what: string): void {
    this.counted += 1;
    // The clock is not read for each item.
    if (this.counted % 100 !== 0) return;
    const now = performance.now();
    if (now - this.shownAt < (this.out.isTTY ? terminalMs : logMs)) return;
    this.shownAt = now;
    const line = `${this.counted} objects; now ${what}`;
    if (this.out.isTTY) this.out.write(`\r\u001b[K${line}`);
    else this.out.write(`plinth: ${line}\n`);
    this.isShown = this.out.isTTY;
  }

  /** Writes a line that stays. */
  say(line: string): void {
    this.clear();
    this.out.write(`plinth: ${line}\n`);
  }

  /** Removes the changing line. */
  clear(): void {
    if (this.isShown) this.out.write('\r\u001b[K');
    this.isShown = false;
  }
}
