import { Tokenizer } from 'htmlparser2';

/** The attributes that hold one URL, by element (HTML, and the obsolete ones that browsers still follow). */
const links: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    a: 'href',
    applet: 'codebase',
    area: 'href',
    audio: 'src',
    base: 'href',
    blockquote: 'cite',
    body: 'background',
    button: 'formaction',
    command: 'icon',
    del: 'cite',
    embed: 'src',
    form: 'action',
    frame: 'longdesc src',
    head: 'profile',
    html: 'manifest',
    iframe: 'longdesc src',
    img: 'longdesc src usemap',
    input: 'formaction src usemap',
    ins: 'cite',
    link: 'href',
    object: 'classid codebase data usemap',
    q: 'cite',
    script: 'src',
    source: 'src',
    track: 'src',
    video: 'poster src',
  }).map(([element, attributes]) => [element, new Set(attributes.split(' '))]),
);

/** Names are read again after they were sent, when they were cut in two: longer ones are no links. */
const contextLength = 256;
/** A longer URL stays as it is, so that a page can't make the server hold back any amount of text. */
const longestUrl = 8192;
const nothing = (): void => undefined;

/**
 * Changes the URLs of a page as it passes, and leaves everything else as it is, character by character. A character is one
 * byte (latin1), so that the encoding of the page does not matter.
 */
export class LinkRewriter {
  private readonly tokenizer: Tokenizer;
  /** The end of the page so far, from the offset `base` on. */
  private text = '';
  private base = 0;
  /** Everything before this offset has been returned. */
  private returned = 0;
  private element = '';
  /** The end of the name of an attribute whose value may have to be changed; what follows is held back. */
  private heldFrom: number | undefined;
  private valueFrom: number | undefined;
  private valueTo = 0;
  private output: string[] = [];

  /** @param rewrite the URL to put in the place of one that is in the page, without quotes and angle brackets */
  constructor(private readonly rewrite: (url: string) => string) {
    this.tokenizer = new Tokenizer(
      { decodeEntities: false },
      {
        onopentagname: (from, to) => {
          this.element = this.slice(from, to).toLowerCase();
        },
        onattribname: (from, to) => this.beginAttribute(this.slice(from, to).toLowerCase(), to),
        onattribdata: (from, to) => {
          this.valueFrom ??= from;
          this.valueTo = to;
        },
        onattribend: () => this.endAttribute(),
        onattribentity: nothing,
        oncdata: nothing,
        onclosetag: nothing,
        oncomment: nothing,
        ondeclaration: nothing,
        onend: nothing,
        onopentagend: nothing,
        onprocessinginstruction: nothing,
        onselfclosingtag: nothing,
        ontext: nothing,
        ontextentity: nothing,
      },
    );
  }

  /** The part of the page that can be sent after another piece of it. */
  write(piece: string): string {
    this.text += piece;
    this.tokenizer.write(piece);
    const end = this.base + this.text.length;
    if (this.heldFrom !== undefined && end - this.heldFrom > longestUrl) this.heldFrom = undefined;
    this.return(this.heldFrom ?? end);
    const kept = Math.max(this.base, Math.min(this.returned, end - contextLength));
    this.text = this.text.slice(kept - this.base);
    this.base = kept;
    return this.taken();
  }

  /** The rest of the page. */
  end(): string {
    this.return(this.base + this.text.length);
    return this.taken();
  }

  private beginAttribute(name: string, end: number): void {
    this.valueFrom = undefined;
    this.heldFrom = links.get(this.element)?.has(name) === true ? end : undefined;
  }

  private endAttribute(): void {
    const [isHeld, from, to] = [this.heldFrom !== undefined, this.valueFrom, this.valueTo];
    this.heldFrom = undefined;
    if (!isHeld || from === undefined) return;
    const url = this.slice(from, to);
    const changed = this.rewrite(url);
    if (changed === url) return;
    this.return(from);
    this.output.push(changed);
    this.returned = to;
  }

  private return(to: number): void {
    if (to <= this.returned) return;
    this.output.push(this.slice(this.returned, to));
    this.returned = to;
  }

  private taken(): string {
    const text = this.output.join('');
    this.output = [];
    return text;
  }

  private slice(from: number, to: number): string {
    return this.text.slice(Math.max(0, from - this.base), to - this.base);
  }
}
