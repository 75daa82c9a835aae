import { request } from 'node:https';

/** The answer to a request, with its body as text. */
export interface PlainAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** A client for servers on this machine whose certificates nobody checks. */
export class InsecureClient {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  get(path: string, accept = 'application/json'): Promise<PlainAnswer> {
    return this.send('GET', path, undefined, accept);
  }

  send(method: string, path: string, body?: unknown, accept = 'application/json'): Promise<PlainAnswer> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}`, accept, 'user-agent': 'release' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text });
        });
      });
      sent.once('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
