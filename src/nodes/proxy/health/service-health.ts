import { errorText } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import { PlainServer } from '../../connection/plain-server.js';

export interface ServiceHealthCheck {
  readonly port: number;
  /** Ready endpoints of the service on this node. */
  readonly endpoints: number;
}

interface Listening {
  readonly port: number;
  endpoints: number;
  readonly servers: Promise<readonly PlainServer[]>;
}

/**
 * Shows load balancers whether this node accepts packets of a service: a service whose packets stay on their node needs
 * an endpoint here. Each such service has a port of its own for that.
 */
export class ServiceHealth {
  private readonly services = new Map<string, Listening>();

  constructor(
    private readonly dependencies: {
      readonly logger: Logger;
      /** The addresses to listen on: those of node ports. */
      readonly addresses: () => readonly string[];
      readonly isProxyHealthy: () => boolean;
    },
  ) {}

  /** @param check undefined when the service no longer has one */
  async set(service: string, check: ServiceHealthCheck | undefined): Promise<void> {
    const known = this.services.get(service);
    if (known !== undefined && known.port === check?.port) {
      known.endpoints = check.endpoints;
      return;
    }
    if (known !== undefined) {
      this.services.delete(service);
      await close(known);
    }
    if (check === undefined) return;
    const listening: Listening = { ...check, servers: this.open(service, check.port) };
    this.services.set(service, listening);
    try {
      await listening.servers;
    } catch (error) {
      // The next change of the service tries again.
      if (this.services.get(service) === listening) this.services.delete(service);
      this.dependencies.logger.warn('could not listen on the port for the health check of a service', {
        service,
        port: check.port,
        error: errorText(error),
      });
    }
  }

  async stop(): Promise<void> {
    const all = [...this.services.values()];
    this.services.clear();
    await Promise.all(all.map(close));
  }

  private async open(service: string, port: number): Promise<readonly PlainServer[]> {
    const opened: PlainServer[] = [];
    try {
      for (const address of this.dependencies.addresses()) {
        opened.push(await PlainServer.start({ address, port }, () => this.answer(service)));
      }
      return opened;
    } catch (error) {
      await Promise.all(opened.map((server) => server.stop()));
      throw error;
    }
  }

  private answer(service: string) {
    const [namespace = '', name = ''] = service.split('/');
    const localEndpoints = this.services.get(service)?.endpoints ?? 0;
    const serviceProxyHealthy = this.dependencies.isProxyHealthy();
    const document = { service: { namespace, name }, localEndpoints, serviceProxyHealthy };
    return {
      status: localEndpoints > 0 && serviceProxyHealthy ? 200 : 503,
      headers: {
        'content-type': 'application/json',
        'x-content-type-options': 'nosniff',
        'x-load-balancing-endpoint-weight': String(localEndpoints),
      },
      body: JSON.stringify(document, null, '\t'),
    };
  }
}

async function close({ servers }: Listening): Promise<void> {
  const opened = await servers.catch(() => []);
  await Promise.all(opened.map((server) => server.stop()));
}
