import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './watching.js';

/** The server that is watched, and how. */
export interface Watched {
  readonly url: string;
  readonly token: string;
  readonly http2: boolean;
  /** Media type to ask for; default: what the server prefers. */
  readonly accept?: string | undefined;
}

/** A process with open watches. */
export class Watchers {
  private readonly child: ChildProcess = fork(fileURLToPath(new URL('./watching.js', import.meta.url)));

  open(watched: Watched, paths: readonly string[]): Promise<Report> {
    return this.ask({ kind: 'open', paths, ...watched });
  }

  /** What came since the last report. */
  report(): Promise<Report> {
    return this.ask({ kind: 'report' });
  }

  /**
   * Like {@link report}, once this many events have come.
   *
   * @throws Error if they have not come within 20 seconds
   */
  async reportOf(events: number): Promise<Report> {
    const report = await this.ask({ kind: 'report', of: events });
    if (report.events < events) throw new Error(`${report.events} events instead of ${events}`);
    return report;
  }

  close(): void {
    this.child.disconnect();
  }

  private async ask(order: Order): Promise<Report> {
    this.child.send(order);
    const ended = once(this.child, 'exit').then(() => Promise.reject(new Error('the watching process ended')));
    const [report] = await Promise.race([once(this.child, 'message'), ended]);
    return report as Report;
  }
}
