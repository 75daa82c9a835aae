import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Running } from '../../../base/machinery/lifecycle.js';
import { errorCode, errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { databasePath, type StoreAnswer } from './store-client.js';

export interface StoreServerOptions {
  /** The http URLs to listen on. */
  readonly urls: readonly string[];
  /** The URL of the database of servers with this prefix. */
  readonly database: (prefix: string) => Promise<string>;
  readonly version: string;
}

/**
 * Listens where suites expect the usual store: reports that it is healthy, and gives our servers the address of their
 * database. A database URL holds no secret: only this user gets through its socket.
 *
 * @throws StartupError when a port is taken
 */
export async function startStoreServer({ urls, database, version }: StoreServerOptions): Promise<Running> {
  const servers: Server[] = [];
  const stop = async () => {
    await Promise.all(
      servers.map((server) => {
        server.closeAllConnections();
        return new Promise<void>((resolve) => server.close(() => resolve()));
      }),
    );
  };
  try {
    for (const text of urls) {
      const url = new URL(text);
      const server = createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '/', url);
        if (pathname === '/health' || pathname === '/livez' || pathname === '/readyz') {
          send(response, 200, { health: 'true', reason: '' });
        } else if (pathname === '/version') send(response, 200, { etcdserver: version, etcdcluster: version });
        else if (pathname === databasePath) {
          database(searchParams.get('prefix') ?? '').then(
            (databaseUrl) => send(response, 200, { databaseUrl } satisfies StoreAnswer),
            (error: unknown) => send(response, 500, { problem: errorText(error) } satisfies StoreAnswer),
          );
        } else send(response, 404, { problem: 'this store has no such path' } satisfies StoreAnswer);
      });
      await listen(server, url);
      servers.push(server);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}

async function listen(server: Server, url: URL): Promise<void> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port: Number(url.port || 80), exclusive: true }, resolve);
    });
  } catch (error) {
    const reason = errorCode(error) === 'EADDRINUSE' ? 'the port is taken' : errorText(error);
    throw new StartupError(`cannot listen on ${url.origin}: ${reason}`, { cause: error });
  }
}
