import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { Logger } from '../../../base/observability/logger.js';
import { type ConsoleSettings, type RunningConsole, startConsole } from '../console-server.js';
import { Upstream } from '../upstream.js';
import { RecordingServer } from './recording-server.js';

/** A response of the console, read to its end. */
export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Upgraded {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined where the response refuses. */
  readonly socket: Duplex | undefined;
}

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/**
 * A console in front of a server that records its requests. Sessions last a minute by a clock that the test advances.
 */
export class ConsoleScene {
  now = Date.now();

  private constructor(
    readonly api: RecordingServer,
    /** Servers of further clusters, `second` and so on. */
    readonly others: readonly RecordingServer[],
    private running: RunningConsole | undefined,
  ) {}

  /** @param names further clusters beside the first, which has no name where it is the only one */
  static async start(
    settings: Pick<ConsoleSettings, 'readOnly' | 'oidc' | 'basePath'> = {},
    names: readonly string[] = [],
  ): Promise<ConsoleScene> {
    const others = await Promise.all(names.map(() => RecordingServer.start()));
    const scene = new ConsoleScene(await RecordingServer.start(), others, undefined);
    const first = upstreamOf(scene.api, names.length === 0 ? '' : 'first');
    const clusters = [first, ...others.map((api, index) => upstreamOf(api, names[index] ?? ''))];
    scene.running = await startConsole(clusters, {
      bindAddress: '127.0.0.1',
      port: 0,
      origins: [],
      sessionMs: 60_000,
      logger: new Logger('error'),
      clock: { now: () => scene.now },
      ...settings,
    });
    return scene;
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    for (const api of [this.api, ...this.others]) api.stop();
  }

  get port(): number {
    return Number(new URL(this.running?.url ?? '').port);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  send(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<ConsoleAnswer> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: this.port, method, path, headers }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Asks for another protocol. Resolves with the connection, or with the response that refuses it. */
  upgrade(path: string, headers: Record<string, string>): Promise<Upgraded> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: this.port, path, headers: { ...handshake, ...headers } });
      sent.once('upgrade', (response, socket, head) => {
        socket.on('error', () => socket.destroy());
        if (head.length > 0) socket.unshift(head);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, socket });
      });
      sent.once('response', (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, socket: undefined });
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  /** Resolves with the headers of requests of the new session. */
  async login(text: string, cluster?: string): Promise<Record<string, string>> {
    const { origin } = this;
    const body = JSON.stringify({ login: text, cluster });
    const answer = await this.send('POST', '/console/login', { origin, 'content-type': 'application/json' }, body);
    assert.equal(answer.status, 200, answer.text);
    const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? [];
    return { origin, cookie, 'x-plinth-console': (JSON.parse(answer.text) as { key: string }).key };
  }
}

function upstreamOf(api: RecordingServer, name: string): Upstream {
  const tls = {
    ca: api.authority.cert,
    cert: undefined,
    key: undefined,
    serverName: undefined,
    insecureSkipVerify: false,
  };
  return new Upstream({ server: `${api.url}/`, tls, files: {} }, name);
}
