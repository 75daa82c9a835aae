import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { serverAuth, TestIdentity } from './test-authority.js';

/** A request that a test's webhook received. */
export interface ReceivedReview {
  readonly authorization: string | undefined;
  /** Common name of the client certificate; undefined without one. */
  readonly client: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever was sent
  readonly body: any;
}

/** The webhook's answer: a status with a body, or no answer on a connection that ends. */
export type ReviewAnswer = { readonly status?: number; readonly body: unknown } | 'cut';

/** A remote service over TLS, with an authority of its own, whose answers to reviews the test defines. */
export class ReviewWebhook {
  readonly received: ReceivedReview[] = [];
  answer: (review: ReceivedReview) => ReviewAnswer | Promise<ReviewAnswer> = () => ({ status: 500, body: '' });

  private constructor(
    private readonly server: Server,
    private readonly authority: TestIdentity,
  ) {}

  static async start(): Promise<ReviewWebhook> {
    const authority = await TestIdentity.root('webhooks');
    const identity = await authority.issue({
      subject: [{ CN: ['webhook'] }],
      usages: [serverAuth],
      names: [{ type: 'dns', value: 'webhook.test' }],
    });
    const tls = { cert: identity.chain, key: identity.key, ca: authority.cert, requestCert: true };
    const server = createServer({ ...tls, rejectUnauthorized: false });
    const webhook = new ReviewWebhook(server, authority);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const socket = request.socket as import('node:tls').TLSSocket;
      const review: ReceivedReview = {
        authorization: request.headers.authorization,
        client: socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      };
      webhook.received.push(review);
      const answer = await webhook.answer(review);
      if (answer === 'cut') {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return webhook;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}/review`;
  }

  /** The authority of the webhook's certificate, which is issued for the name `webhook.test`. */
  get ca(): string {
    return this.authority.cert;
  }

  /** A client certificate that the webhook accepts, with its key. */
  async clientIdentity(name: string): Promise<{ readonly cert: string; readonly key: string }> {
    const { chain, key } = await this.authority.issue({ subject: [{ CN: [name] }] });
    return { cert: chain, key };
  }

  /** A client configuration for the webhook in JSON, which is YAML too. */
  config(user: Readonly<Record<string, unknown>> = {}, cluster: Readonly<Record<string, unknown>> = {}): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'default',
      contexts: [{ name: 'default', context: { cluster: 'remote', user: 'self' } }],
      clusters: [
        {
          name: 'remote',
          cluster: {
            server: this.url,
            'tls-server-name': 'webhook.test',
            'certificate-authority-data': Buffer.from(this.ca).toString('base64'),
            ...cluster,
          },
        },
      ],
      users: [{ name: 'self', user }],
    });
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
