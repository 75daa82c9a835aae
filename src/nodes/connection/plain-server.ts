import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { paceServer } from '../../base/machinery/pace-server.js';

export interface PlainAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Slow clients are disconnected: there are no long requests here. */
const requestMs = 10_000;

/** A small HTTP server without credentials, for pages that everybody in reach may read. */
export class PlainServer {
  private constructor(private readonly server: Server) {}

  /** @throws Error when it can't listen */
  static async start(
    { address, port }: { readonly address: string; readonly port: number },
    answer: (path: string) => PlainAnswer | Promise<PlainAnswer>,
  ): Promise<PlainServer> {
    const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs }, (request, response) => {
      const [path = '/'] = (request.url ?? '/').split('?');
      void Promise.resolve(answer(path)).then(({ status, headers, body }) => {
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
        response.end(request.method === 'HEAD' ? undefined : body);
      });
    });
    paceServer(server);
    // IPv6 only, so that an IPv4 server can have the same port.
    server.listen({ port, host: address, ipv6Only: address.includes(':') });
    await once(server, 'listening');
    return new PlainServer(server);
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
