import { writeSync } from 'node:fs';
import type { AuditEvent } from '../audit-event.js';
import { legacyLine } from '../legacy-line.js';
import type { AuditBackend } from './backend.js';
import { fitted, type SizeLimits } from './event-size.js';
import type { Losses } from './losses.js';

/** The destination of lines. */
export interface LineSink {
  /** Appends whole lines; throws when they could not be written. */
  append(lines: string): void;
  close(): Promise<void>;
}

/** Standard output. A slow reader blocks the process, since no event may be lost. */
export const standardOutput: LineSink = {
  append: (lines) => {
    const bytes = Buffer.from(lines);
    for (let written = 0; written < bytes.length; ) {
      try {
        written += writeSync(1, bytes, written);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        // The pipe is full: wait for its reader.
        Atomics.wait(pause, 0, 0, 1);
      }
    }
  },
  close: async () => undefined,
};

const pause = new Int32Array(new SharedArrayBuffer(4));

/** An event as a line, including the line break. */
export function lineOf(event: AuditEvent, format: 'json' | 'legacy'): string {
  return `${format === 'json' ? event.document : legacyLine(event.info)}\n`;
}

/** Writes each event before the response to its request is sent. */
export class BlockingLogBackend implements AuditBackend {
  readonly name = 'log';

  constructor(
    private readonly sink: LineSink,
    private readonly format: 'json' | 'legacy',
    readonly isStrict: boolean,
    private readonly limits: SizeLimits | undefined,
    private readonly losses: Losses,
  ) {}

  take(event: AuditEvent): boolean {
    const shown = fitted(event, this.limits);
    if (shown === undefined) {
      this.losses.dropped('size', 1);
      return false;
    }
    try {
      this.sink.append(lineOf(shown, this.format));
      this.losses.delivered(1);
      return true;
    } catch (error) {
      this.losses.dropped('failure', 1, error);
      return false;
    }
  }

  async stop(): Promise<void> {
    await this.sink.close();
    this.losses.stop();
  }
}
