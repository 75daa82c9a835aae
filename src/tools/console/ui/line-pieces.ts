/** Lines of a text that comes in pieces. Nobody promises that a line ever ends. */
export class LinePieces {
  private pieces: string[] = [];
  private letters = 0;

  /** @param most letters that are kept of a line */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /** The lines that end with this piece. */
  add(text: string): readonly string[] {
    const parts = text.split('\n');
    const rest = parts.pop() ?? '';
    const lines = parts.map((part) => {
      this.keep(part);
      const line = this.pieces.join('');
      this.pieces = [];
      this.letters = 0;
      return line;
    });
    this.keep(rest);
    return lines;
  }

  private keep(part: string): void {
    const room = this.most - this.letters;
    if (room <= 0 || part === '') return;
    const kept = part.length <= room ? part : part.slice(0, room);
    this.pieces.push(kept);
    this.letters += kept.length;
  }
}
