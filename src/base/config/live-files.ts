import { readFileSync } from 'node:fs';
import { type Delay, FilePoll, systemDelay } from './file-poll.js';

const pollMs = 2_000;

export interface LiveFilesOptions<T> {
  readonly paths: readonly string[];
  /** Builds the value from the current files; throws when they are unusable. */
  readonly load: () => T;
  /**
   * Like `load`, but gives way to other work between steps, for files that take long to load. Called when the files
   * have changed. Default: `load`.
   */
  readonly reload?: () => Promise<T>;
  /** Called after every change of the files, with whether the new content is in use. */
  readonly outcome?: (status: 'success' | 'failure') => void;
  readonly logger: { info(text: string, fields?: object): void; error(text: string, fields?: object): void };
  /** The content of the files, for messages: `keys of service account tokens`. */
  readonly subject: string;
  readonly wait?: Delay | undefined;
}

/**
 * A value made from files and made again when they change. An unusable state of the files is logged once; the value
 * then stays as before.
 */
export class LiveFiles<T> {
  private value: T;
  private readonly contents: readonly Buffer[];
  private readonly poll: FilePoll;
  private readonly listeners = new Set<(value: T) => void>();

  /** Reads the files; throws when they are unusable. */
  constructor(options: LiveFilesOptions<T>) {
    const { paths, load, reload = load, outcome, logger, subject, wait = systemDelay } = options;
    // Read before the value is loaded, so a change between the two reads is noticed later.
    const before = paths.map(contentOf);
    this.value = load();
    this.contents = before;
    const files = paths.join(',');
    this.poll = new FilePoll(
      paths,
      async () => {
        this.value = await reload();
        outcome?.('success');
        logger.info(`now using the changed ${subject}`, { files });
        for (const listener of this.listeners) listener(this.value);
      },
      (error) => {
        outcome?.('failure');
        logger.error(`the changed ${subject} cannot be used`, { files, error });
      },
      pollMs,
      wait,
    );
  }

  get current(): T {
    return this.value;
  }

  /** Calls the listener with every new value. Returns a function that ends this. */
  onChange(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Polls the files until the abort. */
  start(signal: AbortSignal): void {
    this.poll.start(this.contents, signal);
  }

  /** Resolves when polling has ended after the abort. */
  stopped(): Promise<void> {
    return this.poll.stopped();
  }
}

/** An unreadable file counts as empty here: `load` refuses it with its own message. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
