import type { IncomingMessage } from 'node:http';
import type { UserInfo } from '../machinery/request-context.js';
import type { VendorNames } from '../machinery/vendor.js';
import type { Aggregation } from './aggregation.js';
import type { Backend } from './backend.js';
import { identityHeaders } from './forwarded-headers.js';
import type { RemoteApiService } from './known-api-service.js';
import type { RemoteResource } from './remote-resources.js';

/** What is left in a namespace on extension servers. */
export interface RemoteContentReport {
  /** One text for each group version whose resources are not known. */
  readonly discoveryFailures: string[];
  /** `<plural>.<group>` to the number of objects left. */
  readonly remaining: Map<string, number>;
  readonly finalizers: Map<string, number>;
  readonly errors: Error[];
}

const callLimitMs = 30_000;
const maxAnswerBytes = 16 * 1024 * 1024;
const pageSize = 500;

interface Listed {
  readonly metadata?: { readonly remainingItemCount?: number };
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string; readonly finalizers?: readonly string[] };
  }[];
}

/** Deletes the objects of a namespace that extension servers keep. */
export class RemoteContent {
  private readonly user: UserInfo;

  constructor(
    private readonly aggregation: Aggregation,
    { systemNamespace }: VendorNames,
  ) {
    this.user = Object.freeze({
      name: `system:serviceaccount:${systemNamespace}:namespace-controller`,
      uid: '',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${systemNamespace}`, 'system:authenticated'],
      extra: {},
    });
  }

  /**
   * Requests the deletion of everything in the namespace and reports what is left. A server that is away is reported:
   * nobody knows what it keeps.
   *
   * @param check is called before each deletion; throws when the namespace is not the one to be deleted
   */
  async delete(namespace: string, check: () => Promise<void>, signal: AbortSignal): Promise<RemoteContentReport> {
    const report: RemoteContentReport = {
      discoveryFailures: [],
      remaining: new Map(),
      finalizers: new Map(),
      errors: [],
    };
    for (const remote of this.aggregation.services.remotes()) {
      const { backend, resources } = this.aggregation.of(remote);
      const { value, isCurrent } = remote.isAvailable ? await resources.get() : resources.last;
      if (signal.aborted) break;
      if (!remote.isAvailable || !isCurrent || value === undefined) {
        const groupVersion = `${remote.group}/${remote.version}`;
        report.discoveryFailures.push(`${groupVersion}: stale GroupVersion discovery: ${groupVersion}`);
        continue;
      }
      for (const resource of value) {
        if (resource.scope !== 'Namespaced' || !resource.verbs.includes('delete')) continue;
        await check();
        try {
          await this.deleteAll(remote, backend, resource, namespace, report, signal);
        } catch (error) {
          signal.throwIfAborted();
          report.errors.push(error instanceof Error ? error : new Error(String(error)));
        }
      }
    }
    return report;
  }

  private async deleteAll(
    { group, version }: RemoteApiService,
    backend: Backend,
    { resource, verbs }: RemoteResource,
    namespace: string,
    report: RemoteContentReport,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `/apis/${group}/${version}/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(resource)}`;
    const canList = verbs.includes('list');
    if (verbs.includes('deletecollection')) await this.call(backend, 'DELETE', path, signal);
    else if (canList) {
      for (const { metadata } of (await this.list(backend, path, signal)).items ?? []) {
        await this.call(backend, 'DELETE', `${path}/${encodeURIComponent(metadata?.name ?? '')}`, signal);
      }
    }
    if (!canList) return;
    const { items = [], metadata } = await this.list(backend, path, signal);
    const left = items.length + (metadata?.remainingItemCount ?? 0);
    if (left > 0) report.remaining.set(`${resource}.${group}`, left);
    for (const finalizer of items.flatMap((item) => item.metadata?.finalizers ?? [])) {
      report.finalizers.set(finalizer, (report.finalizers.get(finalizer) ?? 0) + 1);
    }
  }

  private async list(backend: Backend, path: string, signal: AbortSignal): Promise<Listed> {
    const text = await this.call(backend, 'GET', `${path}?limit=${pageSize}`, signal);
    const value: unknown = text === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null && Array.isArray((value as Listed).items ?? []) ? value : {};
  }

  /** The text of the answer; empty when what was asked for is not there. */
  private async call(backend: Backend, method: 'GET' | 'DELETE', path: string, signal: AbortSignal): Promise<string> {
    const { response } = await backend.call({
      method,
      path,
      headers: { ...identityHeaders(this.user), host: backend.host, accept: 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(callLimitMs)]),
      headLimitMs: callLimitMs,
    });
    const text = await textOf(response);
    const { statusCode = 0 } = response;
    if (statusCode === 404 || statusCode === 405) return '';
    if (statusCode >= 300) throw new Error(`${method} ${path}: the extension server answered ${statusCode}`);
    return text;
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxAnswerBytes) throw new Error(`an extension server answered with more than ${maxAnswerBytes} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
