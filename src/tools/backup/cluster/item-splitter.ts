import { mostObjectBytes } from '../format/lines.js';

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
/** The most bytes of a list without its items. */
const mostShellBytes = 1024 * 1024;
const itemsKey = /"items"\s*:\s*$/;

/**
 * Takes the JSON of a list as it arrives and yields its items one by one, each as the server wrote it, without holding
 * more than one of them.
 */
export class ItemSplitter {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private isInItems = false;
  private shell = '';
  private item: Buffer[] = [];
  private itemSize = 0;

  /** The items that end in this chunk, without line breaks. @throws Error for JSON that is not a list */
  *push(chunk: Buffer): Generator<Buffer> {
    /** Start of the bytes that were neither returned nor put away yet. */
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const code = chunk[i];
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (code === backslash) this.isEscaped = true;
        else if (code === quote) this.isInString = false;
      } else if (code === quote) this.isInString = true;
      else if (code === openBrace || code === openBracket) {
        if (code === openBracket && this.depth === 1 && !this.isInItems) {
          this.toShell(chunk.subarray(start, i));
          start = i;
          if (itemsKey.test(this.shell)) {
            this.isInItems = true;
            this.shell += '[';
            start = i + 1;
          }
        } else if (this.isInItems && this.depth === 2) start = i;
        this.depth += 1;
      } else if (code === closeBrace || code === closeBracket) {
        this.depth -= 1;
        if (this.isInItems && this.depth === 2) {
          yield this.take(chunk.subarray(start, i + 1));
          start = i + 1;
        } else if (this.isInItems && this.depth === 1) {
          this.isInItems = false;
          start = i;
        }
      }
    }
    if (!this.isInItems) this.toShell(chunk.subarray(start));
    else if (this.depth > 2) this.keep(chunk.subarray(start));
  }

  /** The list without its items. @throws SyntaxError when the list is incomplete */
  end(): unknown {
    return JSON.parse(this.shell);
  }

  private toShell(part: Buffer): void {
    this.shell += part.toString('latin1');
    if (this.shell.length > mostShellBytes) throw new Error('the response is not a list');
  }

  private keep(part: Buffer): void {
    this.itemSize += part.length;
    if (this.itemSize > mostObjectBytes) throw new Error('the list has an object that is too long');
    // The part is copied, because it shares memory with the chunk that was read, which may be much longer.
    this.item.push(Buffer.from(part));
  }

  private take(part: Buffer): Buffer {
    this.keep(part);
    const item = Buffer.concat(this.item);
    this.item = [];
    this.itemSize = 0;
    // Only white space has line breaks in JSON.
    if (item.includes(lineFeed) || item.includes(carriageReturn)) {
      for (let i = 0; i < item.length; i++) {
        if (item[i] === lineFeed || item[i] === carriageReturn) item[i] = space;
      }
    }
    return item;
  }
}
