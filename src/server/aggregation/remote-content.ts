import type { UserInfo } from '../../base/machinery/request-context.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Aggregation } from './aggregation.js';
import type { ExtensionBackend } from './extension-backend.js';
import type { RemoteApiService } from './known-api-service.js';
import { type Listed, readRemoteList } from './read-remote-list.js';
import type { RemoteResource } from './remote-resources.js';
import { readText } from './remote-text.js';

/** The remaining content of a namespace on extension servers. */
export interface RemoteContentReport {
  /** One message for each group version whose resources could not be discovered. */
  readonly discoveryFailures: string[];
  /** Number of remaining objects by `<plural>.<group>`. */
  readonly remaining: Map<string, number>;
  readonly finalizers: Map<string, number>;
  readonly errors: Error[];
}

const callLimitMs = 30_000;
const maxAnswerBytes = 16 * 1024 * 1024;
/** Time limit for all calls to one server about one namespace. */
const serverLimitMs = 60_000;
const pageSize = 500;

/** The server responded, but without the requested content. */
class RefusedError extends Error {}

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
   * Requests the deletion of everything in the namespace and reports what is left. An unavailable server is reported as
   * a failure, since its content is unknown.
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
      await this.deleteFrom(remote, backend, value, namespace, report, { check, signal });
    }
    return report;
  }

  /** If a server does not respond, it gets no more requests in this round, since other namespaces are waiting. */
  private async deleteFrom(
    remote: RemoteApiService,
    backend: ExtensionBackend,
    resources: readonly RemoteResource[],
    namespace: string,
    report: RemoteContentReport,
    { check, signal }: { readonly check: () => Promise<void>; readonly signal: AbortSignal },
  ): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(serverLimitMs)]);
    for (const resource of resources) {
      if (resource.scope !== 'Namespaced' || !resource.verbs.includes('delete')) continue;
      await check();
      try {
        await this.deleteAll(remote, backend, resource, namespace, report, limited);
      } catch (error) {
        signal.throwIfAborted();
        report.errors.push(error instanceof Error ? error : new Error(String(error)));
        if (!(error instanceof RefusedError)) return;
      }
    }
  }

  private async deleteAll(
    { group, version }: RemoteApiService,
    backend: ExtensionBackend,
    { resource, verbs }: RemoteResource,
    namespace: string,
    report: RemoteContentReport,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `/apis/${group}/${version}/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(resource)}`;
    const canList = verbs.includes('list');
    if (verbs.includes('deletecollection')) await this.call(backend, 'DELETE', path, signal);
    else if (canList) {
      const { names } = await this.list(backend, path, signal);
      for (const name of names) await this.call(backend, 'DELETE', `${path}/${encodeURIComponent(name)}`, signal);
    }
    if (!canList) return;
    const { count, finalizers } = await this.list(backend, path, signal);
    if (count > 0) report.remaining.set(`${resource}.${group}`, count);
    for (const one of finalizers) report.finalizers.set(one, (report.finalizers.get(one) ?? 0) + 1);
  }

  private async list(backend: ExtensionBackend, path: string, signal: AbortSignal): Promise<Listed> {
    const text = await this.call(backend, 'GET', `${path}?limit=${pageSize}`, signal);
    return readRemoteList(text === '' ? '{}' : text, pageSize);
  }

  /** The body of the response; empty when the server does not find the resource. */
  private async call(
    backend: ExtensionBackend,
    method: 'GET' | 'DELETE',
    path: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { response } = await backend.call({
      method,
      path,
      headers: await backend.headersAs(this.user),
      signal: AbortSignal.any([signal, AbortSignal.timeout(callLimitMs)]),
      headLimitMs: callLimitMs,
    });
    const text = await readText(response, maxAnswerBytes);
    const { statusCode = 0 } = response;
    if (statusCode === 404 || statusCode === 405) return '';
    if (statusCode >= 300) throw new RefusedError(`${method} ${path}: the extension server answered ${statusCode}`);
    return text;
  }
}
