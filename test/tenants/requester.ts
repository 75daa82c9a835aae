import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

/** A request of the check. */
export interface Shot {
  readonly method: string;
  readonly path: string;
  /** The body: a string is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: checks read whatever was answered
  readonly body: any;
  readonly ms: number;
}

/** One sender with its own connections to one server on this machine. */
export class Requester {
  private readonly agent: Agent;

  constructor(
    readonly url: string,
    private readonly token: string | undefined,
    private readonly headers: Readonly<Record<string, string>> = {},
    connections = 16,
  ) {
    if (new URL(url).hostname !== '127.0.0.1') throw new Error(`${url} is not on this machine`);
    this.agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  }

  /** The response with its text. Rejects when there is none within `patienceMs`. */
  async send(shot: Shot, patienceMs = 60_000): Promise<Answer> {
    const began = performance.now();
    const response = await this.open(shot, patienceMs);
    const chunks: Buffer[] = [];
    const stuck = setTimeout(() => response.destroy(new Error('no end of the answer')), patienceMs);
    try {
      for await (const chunk of response) chunks.push(chunk as Buffer);
    } finally {
      clearTimeout(stuck);
    }
    const text = Buffer.concat(chunks).toString('utf8');
    // A watch is a sequence of values.
    const isJson =
      (response.headers['content-type'] ?? '').startsWith('application/json') && !shot.path.includes('watch=true');
    return {
      status: response.statusCode ?? 0,
      text,
      body: isJson ? JSON.parse(text) : undefined,
      ms: performance.now() - began,
    };
  }

  /** Resolves with the head of the response. The caller reads the body. */
  open({ method, path, body, type, headers: own }: Shot, patienceMs = 60_000): Promise<IncomingMessage> {
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const headers: Record<string, string | string[]> = { ...this.headers, ...own };
    if (this.token !== undefined) headers.authorization = `Bearer ${this.token}`;
    if (payload !== undefined) {
      headers['content-type'] = type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
      headers['content-length'] = String(Buffer.byteLength(payload));
    }
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${this.url}${path}`, { method, headers, agent: this.agent });
      const late = setTimeout(() => request.destroy(new Error('no answer')), patienceMs);
      request.on('response', (response: IncomingMessage) => {
        clearTimeout(late);
        resolve(response);
      });
      request.on('error', (error) => {
        clearTimeout(late);
        reject(error);
      });
      request.end(payload);
    });
  }

  /**
   * Repeats the request as long as the server answers that it is busy. Rejects for any status that is not among the
   * codes.
   */
  async must(shot: Shot, ...codes: number[]): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.send(shot);
      if (codes.length === 0 ? answer.status < 300 : codes.includes(answer.status)) return answer;
      const isBusy = answer.status === 429 || answer.status >= 500;
      if (!isBusy || attempt === 20) {
        throw new Error(`${shot.method} ${shot.path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  close(): void {
    this.agent.destroy();
  }
}
