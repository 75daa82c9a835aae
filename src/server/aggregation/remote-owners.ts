import type { OwnerReference } from '../../base/machinery/api-object.js';
import { parseApiVersion } from '../../base/machinery/group-version.js';
import type { UserInfo } from '../../base/machinery/request-context.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Aggregation } from './aggregation.js';
import type { ExtensionBackend } from './extension-backend.js';
import { parseRemoteText, readText } from './remote-text.js';

/**
 * The state of an owner on an extension server. `waiting`: it is being deleted in the foreground. `misplaced`: a
 * cluster-scoped object can't have this owner.
 */
export type RemoteOwnerState = 'solid' | 'waiting' | 'absent' | 'misplaced';

const callLimitMs = 10_000;
const maxAnswerBytes = 4 * 1024 * 1024;
/** For how long an existing owner is cached. */
const rememberedMs = 30_000;
const mostRemembered = 10_000;
/** For how long a server that did not respond is not called again. */
const restMs = 30_000;

interface Answer {
  readonly kind?: unknown;
  readonly reason?: unknown;
  readonly metadata?: {
    readonly uid?: unknown;
    readonly deletionTimestamp?: unknown;
    readonly finalizers?: unknown;
  };
}

/** Asks extension servers about the owners that they store, for the garbage collector. */
export class RemoteOwners {
  private readonly user: UserInfo;
  private readonly resting = new Map<string, number>();
  private readonly remembered = new Map<string, { readonly state: RemoteOwnerState; readonly until: number }>();

  /** @param now milliseconds from a fixed point */
  constructor(
    private readonly aggregation: Aggregation,
    { systemNamespace }: Pick<VendorNames, 'systemNamespace'>,
    private readonly now: () => number,
  ) {
    this.user = Object.freeze({
      name: `system:serviceaccount:${systemNamespace}:generic-garbage-collector`,
      uid: '',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${systemNamespace}`, 'system:authenticated'],
      extra: {},
    });
  }

  /**
   * The state of the owner that an object in `namespace` refers to; undefined when no extension server serves the kind,
   * or when the server is unavailable or returns neither the object nor a proper 404.
   */
  async find(
    { apiVersion, kind, name, uid }: OwnerReference,
    namespace: string,
    signal: AbortSignal,
  ): Promise<RemoteOwnerState | undefined> {
    const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {};
    const remote = this.aggregation.services.remote(group, version);
    if (remote === undefined || !remote.isAvailable) return undefined;
    const { backend, resources } = this.aggregation.of(remote);
    const { value, isCurrent } = await resources.get();
    const resource = value?.find(({ responseKind, verbs }) => responseKind.kind === kind && verbs.includes('get'));
    if (!isCurrent || resource === undefined) return undefined;
    const isNamespaced = resource.scope === 'Namespaced';
    if (isNamespaced && namespace === '') return 'misplaced';
    const within = isNamespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
    const path = `/apis/${group}/${version}${within}/${resource.resource}/${encodeURIComponent(name)}`;
    const key = `${uid} ${path}`;
    const known = this.remembered.get(key);
    if (known !== undefined && known.until > this.now()) return known.state;
    const groupVersion = `${group}/${version}`;
    if ((this.resting.get(groupVersion) ?? Number.NEGATIVE_INFINITY) > this.now()) return undefined;
    const state = await this.ask(backend, path, uid, signal).catch(() => {
      // Waiting for this server would hold up objects whose owners are elsewhere.
      this.resting.set(groupVersion, this.now() + restMs);
      return undefined;
    });
    if (state === 'solid') this.remember(key, state);
    return state;
  }

  private async ask(
    backend: ExtensionBackend,
    path: string,
    uid: string,
    signal: AbortSignal,
  ): Promise<RemoteOwnerState | undefined> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(callLimitMs)]);
    const { response } = await backend.call({
      method: 'GET',
      path,
      headers: await backend.headersAs(this.user),
      signal: limited,
      headLimitMs: callLimitMs,
    });
    const text = await readText(response, maxAnswerBytes);
    const answer = ((await parseRemoteText(text)) ?? {}) as Answer;
    // A 404 from a server that no longer serves the path does not prove that the object is gone.
    if (response.statusCode === 404) {
      return answer.kind === 'Status' && answer.reason === 'NotFound' ? 'absent' : undefined;
    }
    if (response.statusCode !== 200 || typeof answer.metadata?.uid !== 'string') return undefined;
    if (answer.metadata.uid !== uid) return 'absent';
    const { deletionTimestamp, finalizers } = answer.metadata;
    const waits = Array.isArray(finalizers) && finalizers.includes('foregroundDeletion');
    return waits && deletionTimestamp !== undefined ? 'waiting' : 'solid';
  }

  private remember(key: string, state: RemoteOwnerState): void {
    this.remembered.delete(key);
    this.remembered.set(key, { state, until: this.now() + rememberedMs });
    const [oldest] = this.remembered.keys();
    if (this.remembered.size > mostRemembered && oldest !== undefined) this.remembered.delete(oldest);
  }
}
