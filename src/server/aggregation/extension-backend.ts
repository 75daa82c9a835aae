import type { OutgoingHttpHeaders } from 'node:http';
import type { UserInfo } from '../../base/machinery/request-context.js';
import type { ClientTls } from '../../base/outgoing/client-config.js';
import { connectionReason } from '../../base/outgoing/connection-reason.js';
import { DeniedAddressError } from '../../base/outgoing/denied-address-error.js';
import { exchange } from '../../base/outgoing/exchange.js';
import { GuardedAgent } from '../../base/outgoing/https-connections.js';
import { ServiceFault } from '../../base/outgoing/service-fault.js';
import { Unsent } from '../../base/outgoing/unsent.js';
import { type BackendAnswer, type BackendCall, type BackendDependencies, backendSeats } from './backend-call.js';
import { BackendFault } from './backend-fault.js';
import { identityHeaders } from './forwarded-headers.js';
import type { IdentityFields } from './identity-fields.js';
import type { RemoteApi } from './known-api-service.js';

const connectLimitMs = 10_000;

/** Each attempt may go to another endpoint. */
const maxAttempts = 3;

/** The extension server behind a service, on kept-alive connections of its own. */
export class ExtensionBackend {
  /** Host header of the backend's requests. */
  readonly host: string;
  private readonly serverName: string;
  private agent: { readonly own: ClientTls; readonly agent: GuardedAgent } | undefined;
  private readonly taken = { requests: 0, longRunning: 0 };

  constructor(
    readonly remote: RemoteApi,
    private readonly dependencies: BackendDependencies,
  ) {
    this.serverName = `${remote.service}.${remote.namespace}.svc`;
    this.host = remote.port === 443 ? this.serverName : `${this.serverName}:${remote.port}`;
  }

  /** The fields that identify the user to the extension server. */
  identity(): Promise<IdentityFields> {
    return this.dependencies.identity.get();
  }

  /** The headers for a JSON request that this server itself sends on behalf of a user. */
  async headersAs(user: UserInfo): Promise<OutgoingHttpHeaders> {
    return { ...identityHeaders(user, await this.identity()), host: this.host, accept: 'application/json' };
  }

  /** Whether the extension server can recognize this server by a client certificate. */
  async presentsCertificate(): Promise<boolean> {
    return (await this.dependencies.credentials.tls()).cert !== undefined;
  }

  /**
   * Takes one of the {@link backendSeats}; undefined when none is free. Call the returned function once to give the
   * seat back.
   */
  enter(isLongRunning: boolean): (() => void) | undefined {
    const kind = isLongRunning ? 'longRunning' : 'requests';
    if (this.taken[kind] >= backendSeats[kind]) return undefined;
    this.taken[kind]++;
    let isTaken = true;
    return () => {
      if (isTaken) this.taken[kind]--;
      isTaken = false;
    };
  }

  /**
   * Sends a request to an endpoint that the service has now: a kept-alive connection to a former one is not used. Retries
   * a request that could not be sent, perhaps at another endpoint, but not one that may have been received.
   *
   * @throws BackendFault; the reason of the signal when it is aborted.
   */
  async call(call: BackendCall): Promise<BackendAnswer> {
    for (let attempt = 1; ; attempt++) {
      try {
        call.signal.throwIfAborted();
        const agent = await this.connections();
        const { namespace, service, port } = this.remote;
        const target = this.dependencies.services.resolve(namespace, service, port);
        return await exchange({ ...call, agent, ...target, connectLimitMs });
      } catch (error) {
        call.signal.throwIfAborted();
        const reason = error instanceof Unsent ? error.reason : (error as Error);
        const isFinal = reason instanceof ServiceFault || reason instanceof DeniedAddressError;
        if (error instanceof Unsent && !isFinal && attempt < maxAttempts) continue;
        if (reason instanceof BackendFault) throw reason;
        throw new BackendFault(connectionReason(reason), { cause: reason });
      }
    }
  }

  /** Closes the idle connections now and the others as soon as they are idle. */
  retire(): void {
    if (this.agent !== undefined) retire(this.agent.agent);
    this.agent = undefined;
  }

  /** Connections that present the current certificate. */
  private async connections(): Promise<GuardedAgent> {
    const own = await this.dependencies.credentials.tls();
    if (this.agent?.own === own) return this.agent.agent;
    this.retire();
    const { remote, dependencies } = this;
    const tls: ClientTls = {
      ...own,
      ca: remote.caBundle === '' ? undefined : Buffer.from(remote.caBundle, 'base64').toString('utf8'),
      serverName: this.serverName,
      insecureSkipVerify: remote.insecureSkipTLSVerify,
    };
    const agent = new GuardedAgent(tls, {
      // No limit here, since the seats limit the number of connections.
      maxSockets: Number.POSITIVE_INFINITY,
      denied: dependencies.denied,
    });
    this.agent = { own, agent };
    return agent;
  }
}

function retire(agent: GuardedAgent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
