import { inspect } from 'node:util';
import type { LogFormat } from './log-format.js';
import type { LogLevel } from './log-level.js';

/**
 * Details of a log line. Errors are shown with message and stack. Errors marked as expected (`isExpected`), or caused
 * by such an error, are shown by their messages only. Secrets must not be passed in.
 */
export type LogFields = Readonly<Record<string, unknown>>;

const severity: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Writes one line per entry to standard error, as text for people or as JSON for collectors. */
export class Logger {
  constructor(
    private level: LogLevel = 'info',
    private readonly format: LogFormat = 'text',
    private readonly write: (line: string) => void = (line) => void process.stderr.write(line),
    /** Fields of every line. */
    private readonly always: LogFields = {},
  ) {}

  /** Changes the log level. */
  setLevel(level: LogLevel): void {
    this.level = level;
  }

  debug(message: string, fields?: LogFields): void {
    this.log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.log('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.log('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.log('error', message, fields);
  }

  private log(level: LogLevel, message: string, own: LogFields = {}): void {
    if (severity[level] < severity[this.level]) return;
    const fields = { ...this.always, ...own };
    const time = new Date().toISOString();
    if (this.format === 'json') {
      const flat = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plain(value)]));
      this.write(`${harmless(safeJson({ time, level, message: shortened(message), ...flat }))}\n`);
      return;
    }
    const details = Object.entries(fields).map(([key, value]) => ` ${key}=${shortened(asText(value))}`);
    const text = shortened(message.replaceAll('\n', '\n    '));
    this.write(`${harmless(`${time} ${level.toUpperCase().padEnd(5)} ${text}${details.join('')}`)}\n`);
  }
}

/** The most causes that are followed; a chain of causes may be circular. */
const mostCauses = 5;

function plain(value: unknown, causes = mostCauses): unknown {
  if (typeof value === 'string') return shortened(value);
  if (!(value instanceof Error)) return typeof value === 'bigint' ? String(value) : value;
  if (isExpected(value)) return { message: shortened(messages(value)) };
  const message = shortened(value.message);
  const cause = value.cause === undefined || causes === 0 ? {} : { cause: plain(value.cause, causes - 1) };
  return { message, stack: shortened(value.stack ?? ''), ...cause };
}

function asText(value: unknown): string {
  if (value instanceof Error) {
    if (isExpected(value)) return asText(messages(value));
    const cause = value.cause instanceof Error ? ` (cause: ${value.cause.message})` : '';
    // A client may send text that looks like lines of the log. Stack lines are indented, so it can't be mistaken for
    // them.
    return `${value.stack ?? value.message}${cause}`.replace(/\n\s*/g, '\n    ');
  }
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return typeof value === 'bigint' ? String(value) : safeJson(value);
}

/** Escapes characters that would control a terminal, or that a reader of lines would take for a line break. */
function harmless(line: string): string {
  return line.replace(/[^\P{Cc}\n]|[\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The most characters of a string in a line: strings from clients must not fill the disk. */
const mostCharacters = 16_384;

function shortened(text: string): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}... (${text.length} characters)`;
}

function isExpected(error: Error, causes = mostCauses): boolean {
  if ((error as { readonly isExpected?: unknown }).isExpected === true) return true;
  return causes > 0 && error.cause instanceof Error && isExpected(error.cause, causes - 1);
}

/** The message followed by those of the causes, as far as they add something. */
function messages(error: Error, causes = mostCauses): string {
  const { message, cause } = error;
  if (causes === 0 || !(cause instanceof Error)) return message;
  const more = messages(cause, causes - 1);
  return message.includes(more) ? message : `${message} (cause: ${more})`;
}

/** Never throws: returns a description of the error instead, whatever value was thrown. */
function safeJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member)) ??
      String(value)
    );
  } catch {
    // The value is circular, or has a getter that throws.
    return JSON.stringify(inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY }));
  }
}
