import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Where the client of `traffic.ts` sends its requests, and how many. */
export interface TrafficOrder {
  readonly address: string;
  readonly port: number;
  /** Connections that stay open. */
  readonly connections: number;
  /** Flows of datagrams. */
  readonly flows: number;
}

/** What happened to the traffic of a client. */
export interface TrafficReport {
  readonly kept: number;
  /** The number of kept connections that broke, by their endpoints. */
  readonly broken: Readonly<Record<string, number>>;
  /** The longest time that one of the other kept connections waited for an answer. */
  readonly longestMs: number;
  readonly fresh: { readonly asked: number; readonly failed: number; readonly lastFailureMs: number };
  readonly datagrams: { readonly sent: number; readonly lost: number };
}

/** A client in a network namespace of its own. */
export class TrafficClient {
  constructor(private readonly process: ChildProcess) {}

  /** Resolves when all kept connections have had an answer. */
  async begin(order: TrafficOrder): Promise<void> {
    await this.send(order);
  }

  async end(): Promise<TrafficReport> {
    return (await this.send('end')) as TrafficReport;
  }

  private async send(message: TrafficOrder | 'end'): Promise<unknown> {
    const answer = once(this.process, 'message');
    this.process.send(message);
    return (await answer)[0];
  }
}
