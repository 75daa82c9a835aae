import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

/** The cost of a series of requests. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bytesPerAnswer: number;
  /** How long the series took. */
  readonly spanMs: number;
}

/** Sends requests over kept connections and throws the bodies away: parsing them would measure the client. */
export class Load {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    ca: string,
    private readonly token: string,
  ) {
    this.agent = new Agent({ keepAlive: true, ca, maxSockets: 256 });
  }

  close(): void {
    this.agent.destroy();
  }

  /** One request. Returns the length of its body, and the body when asked for. Rejects for any other code. */
  async send(method: string, path: string, expected: number, body?: string, keep = false): Promise<[number, string]> {
    const headers: Record<string, string | number> = { authorization: `Bearer ${this.token}` };
    if (body !== undefined) {
      headers['content-type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      headers['content-length'] = Buffer.byteLength(body);
    }
    const request = httpsRequest(`${this.url}${path}`, { method, headers, agent: this.agent });
    request.end(body);
    const [message] = (await once(request, 'response')) as [IncomingMessage];
    let length = 0;
    const kept: Buffer[] = [];
    for await (const chunk of message) {
      length += (chunk as Buffer).length;
      if (keep) kept.push(chunk as Buffer);
    }
    if (message.statusCode !== expected) throw new Error(`${method} ${path}: ${message.statusCode}`);
    return [length, Buffer.concat(kept).toString()];
  }

  /** Waits for the head of an answer, and leaves. */
  async begin(path: string): Promise<number> {
    const headers = { authorization: `Bearer ${this.token}` };
    const request = httpsRequest(`${this.url}${path}`, { headers, agent: this.agent });
    request.end();
    const [message] = (await once(request, 'response')) as [IncomingMessage];
    request.on('error', () => {});
    message.on('error', () => {});
    request.destroy();
    if (message.statusCode !== 200) throw new Error(`GET ${path}: ${message.statusCode}`);
    return 0;
  }

  /** Runs `once` with `clients` at a time until `more` returns false. */
  async measure(clients: number, more: () => boolean, once: () => Promise<number>): Promise<Figures> {
    const times: number[] = [];
    let bytes = 0;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (more()) {
          const start = performance.now();
          const length = await once();
          bytes += length;
          times.push(performance.now() - start);
        }
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
    return {
      perSecond: times.length / seconds,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      spanMs: seconds * 1000,
      bytesPerAnswer: bytes / Math.max(1, times.length),
    };
  }
}

/** True for this many milliseconds, and at least for one round. */
export function forMs(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds;
  let first = true;
  return () => {
    const more = first || performance.now() < end;
    first = false;
    return more;
  };
}
