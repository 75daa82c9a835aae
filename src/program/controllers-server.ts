import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { errorText, StartupError } from '../machinery/startup-error.js';
import type { Metrics } from '../observability/metrics.js';
import type { Storage } from '../storage/storage.interface.js';
import type { Running } from './lifecycle.js';

export interface ControllersServerParts {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'scrape'>;
  readonly storage: Pick<Storage, 'ping'>;
}

const headMs = 10_000;

/**
 * Serves /metrics, /metrics/slis, /healthz (the process runs) and /readyz (it reaches the database), in plain HTTP.
 *
 * @throws StartupError when it can't listen
 */
export async function startControllersServer({
  host,
  port,
  metrics,
  storage,
}: ControllersServerParts): Promise<Running> {
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    switch (path) {
      case '/metrics':
      case '/metrics/slis': {
        const { contentType, text } = await metrics.scrape(path === '/metrics' ? 'all' : 'slis');
        send(response, 200, text, contentType);
        return;
      }
      case '/healthz':
        send(response, 200, 'ok');
        return;
      case '/readyz':
        try {
          await storage.ping();
          send(response, 200, 'ok');
        } catch {
          send(response, 500, 'the database cannot be reached');
        }
        return;
      default:
        send(response, 404, 'not found');
    }
  };
  const server = createServer({ headersTimeout: headMs, requestTimeout: headMs }, (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '';
    if (request.method !== 'GET' && request.method !== 'HEAD') send(response, 405, 'only GET');
    else answer(path, response).catch(() => response.destroy());
  });
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new StartupError(`--controllers-metrics-bind-address: ${errorText(error)}`, { cause: error });
  }
  return {
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, status: number, text: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType }).end(text);
}
