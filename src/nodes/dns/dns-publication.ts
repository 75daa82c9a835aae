import { isIPv6 } from 'node:net';
import { Backoff } from '../../base/machinery/backoff.js';
import { errorText } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';

export interface DnsPublicationDependencies {
  readonly api: ApiUser;
  readonly namespace: string;
  /** The API path of the group version of the slices. */
  readonly slicesGroup: string;
  /** Labels of a slice: the name of its service, and its writer. */
  readonly serviceLabel: string;
  readonly managedByLabel: string;
  readonly nodeName: string;
  /** The cluster address of the service. */
  readonly serviceAddress: string;
  /** The address of this server. */
  readonly address: string;
  readonly port: number;
  readonly timers: Timers;
  readonly logger: Logger;
}

export const dnsServiceName = 'kube-dns';
const retryMs = { firstMs: 500, longestMs: 15_000 };

/** Makes this server an endpoint of the service for cluster DNS. */
export class DnsPublication {
  private readonly stopping = new AbortController();
  private done: Promise<void> = Promise.resolve();
  private isPublished = false;

  constructor(private readonly dependencies: DnsPublicationDependencies) {}

  /** Publishes the endpoint, with retries. @returns a promise that resolves when that has succeeded */
  start(): Promise<void> {
    this.done = this.publishPatiently();
    return this.done;
  }

  /** Removes the endpoint. The service stays, since other servers may use it. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.done;
    if (!this.isPublished) return;
    const { api, logger } = this.dependencies;
    const signal = AbortSignal.timeout(2_000);
    await api.send('DELETE', `${this.slicesPath}/${this.sliceName}`, { signal }).catch((error: unknown) => {
      logger.warn('this name server could not be removed from its service', { error: errorText(error) });
    });
  }

  private get slicesPath(): string {
    const { slicesGroup, namespace } = this.dependencies;
    return `${slicesGroup}/namespaces/${namespace}/endpointslices`;
  }

  private get sliceName(): string {
    return `${dnsServiceName}-${this.dependencies.nodeName}`;
  }

  private async publishPatiently(): Promise<void> {
    const { timers, logger } = this.dependencies;
    const { signal } = this.stopping;
    const backoff = new Backoff(retryMs);
    while (!signal.aborted) {
      try {
        this.isPublished = await this.publish(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('this name server could not be published yet', { error: errorText(error) });
        await timers.wait(backoff.next(), signal);
      }
    }
  }

  /** @returns whether this server is an endpoint now */
  private async publish(signal: AbortSignal): Promise<boolean> {
    const { api, namespace, serviceAddress, logger } = this.dependencies;
    const services = `/api/v1/namespaces/${namespace}/services`;
    const present = await orMissing(
      api.send<{ spec?: { selector?: object; clusterIP?: string } }>('GET', `${services}/${dnsServiceName}`, {
        signal,
      }),
    );
    if (present === undefined) await api.send('POST', services, { body: this.service(), signal });
    else if (Object.keys(present.spec?.selector ?? {}).length > 0) {
      logger.warn('the service kube-dns selects pods: this name server is not published', {
        service: dnsServiceName,
      });
      return false;
    } else if (present.spec?.clusterIP !== serviceAddress) {
      logger.warn('the service kube-dns has another address', {
        wanted: serviceAddress,
        has: present.spec?.clusterIP,
      });
    }
    const slice = await orMissing(
      api.send<{ metadata: { resourceVersion: string } }>('GET', `${this.slicesPath}/${this.sliceName}`, { signal }),
    );
    if (slice === undefined) await api.send('POST', this.slicesPath, { body: this.slice(), signal });
    else {
      const body = this.slice(slice.metadata.resourceVersion);
      await api.send('PUT', `${this.slicesPath}/${this.sliceName}`, { body, signal });
    }
    return true;
  }

  private service(): object {
    const port = (name: string, protocol: string) => ({ name, protocol, port: 53, targetPort: this.dependencies.port });
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: dnsServiceName, labels: { 'k8s-app': dnsServiceName } },
      spec: { clusterIP: this.dependencies.serviceAddress, ports: [port('dns', 'UDP'), port('dns-tcp', 'TCP')] },
    };
  }

  private slice(resourceVersion?: string): object {
    const { serviceLabel, managedByLabel, address, port, nodeName } = this.dependencies;
    return {
      metadata: {
        name: this.sliceName,
        labels: { [serviceLabel]: dnsServiceName, [managedByLabel]: 'plinth-dns' },
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      addressType: isIPv6(address) ? 'IPv6' : 'IPv4',
      ports: [
        { name: 'dns', protocol: 'UDP', port },
        { name: 'dns-tcp', protocol: 'TCP', port },
      ],
      endpoints: [{ addresses: [address], conditions: { ready: true }, nodeName }],
    };
  }
}

async function orMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
