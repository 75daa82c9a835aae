import type { UserInfo } from '../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { Aggregation } from '../../../server/aggregation/aggregation.js';
import type { RemoteApiService } from '../../../server/aggregation/known-api-service.js';
import { parseRemoteText, readText } from '../../../server/aggregation/remote-text.js';
import { loopUser } from '../frame/reconcile-context.js';

/** The short name of a group with metrics. */
export type MetricsGroup = 'metrics' | 'custom.metrics' | 'external.metrics';

/** A read of a metrics API. */
export interface MetricsRequest {
  readonly group: MetricsGroup;
  /** The path below the group version, each segment unescaped: `['namespaces', 'default', 'pods']`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** What is read, for messages: `pods`. */
  readonly resource: string;
  readonly signal: AbortSignal;
}

/** Where autoscalers get their metrics. */
export interface MetricsApi {
  /** The response, as parsed JSON: nothing about it is checked. Throws Errors whose message is fit for conditions. */
  get(request: MetricsRequest): Promise<unknown>;
}

/** The supported versions of each group, newest first. */
const versions: Readonly<Record<MetricsGroup, readonly string[]>> = {
  metrics: ['v1', 'v1beta1'],
  'custom.metrics': ['v1beta2', 'v1beta1'],
  'external.metrics': ['v1beta1'],
};
const upstreamSuffix = 'k8s.io';
const callLimitMs = 30_000;
const maxAnswerBytes = 32 * 1024 * 1024;
const longestMessage = 1000;

/** The metrics of the extension servers that APIServices name. */
export class RemoteMetrics implements MetricsApi {
  private readonly user: UserInfo;

  constructor(
    /** Undefined when this process knows no extension servers. */
    private readonly aggregation: Aggregation | undefined,
    private readonly names: VendorNames,
  ) {
    this.user = loopUser('horizontal-pod-autoscaler', names);
  }

  /** Whether an extension server has the group. */
  has(group: MetricsGroup): boolean {
    return this.find(group) !== undefined;
  }

  async get({ group, path, query, resource, signal }: MetricsRequest): Promise<unknown> {
    const found = this.find(group);
    const asked = `(get ${resource}.${found?.group ?? groupName(group, this.names)})`;
    if (found === undefined || this.aggregation === undefined) {
      throw new Error(`the server could not find the requested resource ${asked}`);
    }
    if (!found.isAvailable) throw new Error(`the server is currently unable to handle the request ${asked}`);
    const backend = this.aggregation.backendOf(found);
    const search = new URLSearchParams(query).toString();
    const parts = [found.group, found.version, ...path].map((part) => encodeURIComponent(part).replaceAll('%2A', '*'));
    const { response } = await backend.call({
      method: 'GET',
      path: `/apis/${parts.join('/')}${search === '' ? '' : `?${search}`}`,
      headers: await backend.headersAs(this.user),
      signal: AbortSignal.any([signal, AbortSignal.timeout(callLimitMs)]),
      headLimitMs: callLimitMs,
    });
    const text = await readText(response, maxAnswerBytes);
    const { statusCode = 0 } = response;
    if (statusCode === 200) return parseRemoteText(text);
    throw new Error(messageOf(text) ?? `the server answered with the status ${statusCode} ${asked}`);
  }

  /** The server of the newest version, of this vendor's group before upstream's. */
  private find(group: MetricsGroup): RemoteApiService | undefined {
    const services = this.aggregation?.services;
    const found: RemoteApiService[] = [];
    for (const name of new Set([groupName(group, this.names), `${group}.${upstreamSuffix}`])) {
      for (const version of versions[group]) {
        const service = services?.remote(name, version);
        if (service !== undefined) found.push(service);
      }
    }
    return found.find(({ isAvailable }) => isAvailable) ?? found[0];
  }
}

/** The message of a Status. */
function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' && message !== '' ? message.slice(0, longestMessage) : undefined;
  } catch {
    return undefined;
  }
}
