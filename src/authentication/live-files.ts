import { readFileSync } from 'node:fs';
import { type Delay, FilePoll, systemDelay } from './file-poll.js';

const pollMs = 2_000;

export interface LiveFilesOptions<T> {
  readonly paths: readonly string[];
  /** Makes the value of what the files hold now; throws when they can't be used. */
  readonly load: () => T;
  readonly logger: { info(text: string, fields?: object): void; error(text: string, fields?: object): void };
  /** What the files hold, for messages: `keys of service account tokens`. */
  readonly subject: string;
  readonly wait?: Delay | undefined;
}

/**
 * A value made of files, and made anew when they change. A state of the files that can't be used is logged once and
 * leaves the value as it was.
 */
export class LiveFiles<T> {
  private value: T;
  private readonly contents: readonly Buffer[];
  private readonly poll: FilePoll;
  private readonly listeners = new Set<(value: T) => void>();

  /** Reads the files; throws when they can't be used. */
  constructor(options: LiveFilesOptions<T>) {
    const { paths, load, logger, subject, wait = systemDelay } = options;
    // The value is never older than these: what changes between the two reads is noticed later.
    const before = paths.map(contentOf);
    this.value = load();
    this.contents = before;
    const files = paths.join(',');
    this.poll = new FilePoll(
      paths,
      () => {
        this.value = load();
        logger.info(`changed ${subject} are in use`, { files });
        for (const listener of this.listeners) listener(this.value);
      },
      (error) => logger.error(`changed ${subject} are not used`, { files, error }),
      pollMs,
      wait,
    );
  }

  get current(): T {
    return this.value;
  }

  /** Calls back with every new value; gives the way to end that. */
  onChange(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Looks at the files until the abort. */
  start(signal: AbortSignal): void {
    this.poll.start(this.contents, signal);
  }

  /** Resolves when nothing is looked at any more after the abort. */
  stopped(): Promise<void> {
    return this.poll.stopped();
  }
}

/** What can't be read is for `load` to refuse, in its own words. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
