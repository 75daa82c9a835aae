/** Channels of the protocol `v5.channel.k8s.io`; each message begins with the number of its channel. */
const channels = { input: 0, output: 1, errors: 2, outcome: 3, resize: 4, close: 255 } as const;

/** What a program in a pod sends. */
export type FromProgram =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'errors'; readonly text: string }
  /** The program has ended; the message is empty if it succeeded. */
  | { readonly kind: 'ended'; readonly message: string };

/** Reads messages of one connection. Letters of several bytes may be divided among messages. */
export class ProgramReader {
  private readonly output = new TextDecoder();
  private readonly errors = new TextDecoder();

  /** Undefined for messages that say nothing. */
  read(message: Uint8Array): FromProgram | undefined {
    const [channel] = message;
    const rest = message.subarray(1);
    if (channel === channels.output) return { kind: 'output', text: this.output.decode(rest, { stream: true }) };
    if (channel === channels.errors) return { kind: 'errors', text: this.errors.decode(rest, { stream: true }) };
    if (channel === channels.outcome) return { kind: 'ended', message: outcomeText(new TextDecoder().decode(rest)) };
    return undefined;
  }
}

function outcomeText(json: string): string {
  try {
    const { status, message } = JSON.parse(json) as { readonly status?: unknown; readonly message?: unknown };
    if (status === 'Success') return '';
    return typeof message === 'string' && message !== '' ? message : 'it failed';
  } catch {
    return 'it ended in an unknown way';
  }
}

/** A message with a text for the standard input of a program. */
export function inputMessage(text: string): Uint8Array<ArrayBuffer> {
  return messageOf(channels.input, text);
}

/** A message with the size of the terminal, in letters. */
export function resizeMessage(size: { readonly columns: number; readonly rows: number }): Uint8Array<ArrayBuffer> {
  return messageOf(channels.resize, JSON.stringify({ Width: size.columns, Height: size.rows }));
}

function messageOf(channel: number, text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const message = new Uint8Array(bytes.length + 1);
  message[0] = channel;
  message.set(bytes, 1);
  return message;
}

/** A message that says that no more input comes. */
export function endOfInput(): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(channels.close, channels.input);
}

/** The words of a command line: separated by spaces, with quotes and backslashes as in a shell, and nothing else of one. */
export function wordsOf(line: string): readonly string[] | { readonly problem: string } {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const letter = line.charAt(at);
    if (quote === '' && /\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (letter === '\\' && quote !== "'" && at + 1 < line.length) {
      at++;
      word = (word ?? '') + line.charAt(at);
    } else if (letter === quote) quote = '';
    else if (quote === '' && (letter === '"' || letter === "'")) {
      quote = letter;
      word ??= '';
    } else word = (word ?? '') + letter;
  }
  if (quote !== '') return { problem: `a ${quote} is missing` };
  if (word !== undefined) words.push(word);
  return words;
}
