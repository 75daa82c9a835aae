import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Running } from '../../base/machinery/lifecycle.js';
import { paceServer } from '../../base/machinery/pace-server.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import type { Metrics } from '../../base/observability/metrics.js';
import { flagsPage, type ProcessInfo, statusPage } from '../../base/observability/process-pages.js';
import { ProfilerBusyError } from '../../base/observability/profiler-busy-error.js';
import { isProfileKind, takeProfile } from '../../base/observability/profiles.js';
import type { Storage } from '../../storage/storage.interface.js';

export interface ControllersServerDependencies {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'scrape'>;
  readonly storage: Pick<Storage, 'ping'>;
  readonly info: ProcessInfo;
  /** Whether profiles may be taken, by callers on this machine. */
  readonly profiling: boolean;
}

const headMs = 10_000;
const profilePrefix = '/debug/pprof/';
const mostSeconds = 300;

/**
 * Serves /metrics, /metrics/slis, /healthz and /livez (the process runs), /readyz (it reaches the database), /statusz,
 * /flagz and /debug/pprof/, in plain HTTP.
 *
 * @throws StartupError when it can't listen
 */
export async function startControllersServer(dependencies: ControllersServerDependencies): Promise<Running> {
  const server = createServer({ headersTimeout: headMs, requestTimeout: headMs }, (request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://localhost');
    if (url === null) send(response, 400, 'no valid path');
    else if (request.method !== 'GET' && request.method !== 'HEAD') send(response, 405, 'only GET');
    else answer(dependencies, url, request, response).catch(() => response.destroy());
  });
  paceServer(server);
  server.listen(dependencies.port, dependencies.host);
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

async function answer(
  { metrics, storage, info, profiling }: ControllersServerDependencies,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = url.pathname;
  if (profiling && path.startsWith(profilePrefix)) {
    return answerProfile(path.slice(profilePrefix.length), url, request, response);
  }
  switch (path) {
    case '/metrics':
    case '/metrics/slis': {
      const { contentType, text } = await metrics.scrape(path === '/metrics' ? 'all' : 'slis');
      send(response, 200, text, contentType);
      return;
    }
    case '/statusz':
      send(response, 200, statusPage(info));
      return;
    case '/flagz':
      send(response, 200, flagsPage(info));
      return;
    case '/healthz':
    case '/livez':
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
}

async function answerProfile(
  kind: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const seconds = Number(url.searchParams.get('seconds') ?? 10);
  if (!isProfileKind(kind)) return send(response, 404, 'not found');
  if (!isLocal(request)) return send(response, 403, 'profiles are for callers on this machine');
  if (!(seconds > 0 && seconds <= mostSeconds)) return send(response, 400, `seconds: at most ${mostSeconds}`);
  const left = new AbortController();
  response.on('close', () => left.abort());
  try {
    send(response, 200, await takeProfile(kind, seconds, left.signal), 'application/json');
  } catch (error) {
    if (!(error instanceof ProfilerBusyError)) throw error;
    send(response, 429, error.message);
  }
}

function isLocal({ socket: { remoteAddress = '' } }: IncomingMessage): boolean {
  return remoteAddress === '::1' || /^(?:::ffff:)?127\./.test(remoteAddress);
}

function send(response: ServerResponse, status: number, text: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType }).end(text);
}
