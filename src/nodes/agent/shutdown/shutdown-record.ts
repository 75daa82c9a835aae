import { promises as fs } from 'node:fs';
import { writeFileAtomically } from '../../../base/machinery/files.js';

/** When the machine last began to shut down, and when its pods had ended, in seconds since the epoch; 0: never, or not yet. */
export interface ShutdownTimes {
  readonly start: number;
  readonly end: number;
}

const msPerSecond = 1000;

/** The last shutdown of the machine, kept in a file since this process does not outlive it. */
export class ShutdownRecord {
  private constructor(
    private readonly file: string,
    private known: ShutdownTimes,
  ) {}

  /** A file that can't be read counts as no record. */
  static async open(file: string): Promise<ShutdownRecord> {
    const text = await fs.readFile(file, 'utf8').catch(() => '{}');
    return new ShutdownRecord(file, { start: secondsOf(text, 'startTime'), end: secondsOf(text, 'endTime') });
  }

  get times(): ShutdownTimes {
    return this.known;
  }

  /** @param now milliseconds since the epoch. @throws the error of the file */
  began(now: number): Promise<void> {
    return this.keep({ start: now / msPerSecond, end: 0 });
  }

  /** @param now milliseconds since the epoch. @throws the error of the file */
  ended(now: number): Promise<void> {
    return this.keep({ ...this.known, end: now / msPerSecond });
  }

  private async keep(times: ShutdownTimes): Promise<void> {
    this.known = times;
    const text = (seconds: number) => (seconds === 0 ? undefined : new Date(seconds * msPerSecond).toISOString());
    const state = { startTime: text(times.start), endTime: text(times.end) };
    await writeFileAtomically(this.file, `${JSON.stringify(state)}\n`, 0o644);
  }
}

function secondsOf(text: string, field: string): number {
  try {
    const milliseconds = Date.parse(String((JSON.parse(text) as Record<string, unknown>)[field]));
    return Number.isNaN(milliseconds) ? 0 : milliseconds / msPerSecond;
  } catch {
    return 0;
  }
}
