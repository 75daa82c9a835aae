import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ApiUser } from '../../connection/api-connection.js';
import type { AgentOptions } from '../agent-options.js';
import type { CertificatePair } from '../node/node-certificates.js';
import { AgentAuthentication } from './agent-authentication.js';
import { AgentAuthorization } from './agent-authorization.js';
import { AgentServer } from './agent-server.js';
import type { AgentServerDependencies } from './agent-server-dependencies.js';
import { HealthServer } from './health-server.js';

/** What the servers need beside the options. */
export type ShownByServers = Pick<
  AgentServerDependencies,
  | 'runtime'
  | 'manager'
  | 'view'
  | 'machine'
  | 'probeCounts'
  | 'shutdownTimes'
  | 'volumeUse'
  | 'healthProblem'
  | 'timers'
  | 'logger'
>;

/** The ports on which the agent listens, as configured. */
export class AgentServers {
  private constructor(
    private readonly pages: AgentServer | undefined,
    private readonly health: HealthServer | undefined,
  ) {}

  /** @throws Error for a port that is taken */
  static async start(
    options: AgentOptions,
    api: ApiUser,
    names: VendorNames,
    shown: ShownByServers,
  ): Promise<AgentServers> {
    const { healthz, server, nodeName, rootFolder, logFolder, port } = options;
    const health =
      healthz === undefined ? undefined : await HealthServer.start(healthz.address, healthz.port, shown.healthProblem);
    if (server === undefined) return new AgentServers(undefined, health);
    const pages = await AgentServer.start({
      ...shown,
      ...server,
      ...{ port, nodeName, rootFolder, logFolder },
      authentication: new AgentAuthentication(api, names, server.authentication, shown.timers),
      authorization: new AgentAuthorization(api, names, nodeName, server.authorization, shown.timers),
    });
    return new AgentServers(pages, health);
  }

  /** Replaces the certificate for new connections. */
  useCertificate(pair: CertificatePair): void {
    this.pages?.useCertificate(pair);
  }

  async stop(): Promise<void> {
    await Promise.all([this.pages?.stop(), this.health?.stop()]);
  }
}
