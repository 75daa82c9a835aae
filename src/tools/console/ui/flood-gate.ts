/** Letters that wait to be drawn. A program that writes faster loses what is too much, not the page. */
const mostWaiting = 2_000_000;

/**
 * Stands before something that draws text. A connection of a browser can't be slowed down, so what arrives while too much waits
 * is left out, and a line says how much.
 */
export class FloodGate {
  private waiting = 0;
  private left = 0;

  /** @param draw draws a text and calls back when it is drawn */
  constructor(private readonly draw: (text: string, done: () => void) => void) {}

  add(text: string): void {
    if (this.waiting > 0 && this.waiting + text.length > mostWaiting) {
      this.left += text.length;
      return;
    }
    this.pass(text);
  }

  private pass(text: string): void {
    this.waiting += text.length;
    this.draw(text, () => {
      this.waiting -= text.length;
      if (this.waiting > 0 || this.left === 0) return;
      const { left } = this;
      this.left = 0;
      this.pass(`\r\n\u001b[0m[${left} letters were left out: the program writes too fast]\r\n`);
    });
  }
}
