import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { paceServer } from '../../../base/machinery/pace-server.js';

/** Serves `/healthz` alone, without credentials, on an address that only the machine itself can reach. */
export class HealthServer {
  private constructor(private readonly server: Server) {}

  /** @param problem why the agent is not healthy; undefined if it is */
  static async start(address: string, port: number, problem: () => string | undefined): Promise<HealthServer> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://node');
      if (!/^\/healthz(\/(ping|log|syncloop))?$/.test(pathname)) {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
        return;
      }
      const found = problem();
      response.writeHead(found === undefined ? 200 : 500, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(found === undefined ? 'ok' : `[-]syncloop failed: ${found}\n`);
    });
    paceServer(server);
    server.listen(port, address);
    await once(server, 'listening');
    return new HealthServer(server);
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
