import type { Timers } from '../../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { ApiUser } from '../../connection/api-connection.js';
import type { Caller } from './caller.js';
import { CallerRefusal } from './caller-refusal.js';
import { Reviews } from './reviews.js';
import { TimedCache } from './timed-cache.js';

export interface AuthorizationSettings {
  readonly mode: 'AlwaysAllow' | 'Webhook';
  readonly allowedCacheMs: number;
  readonly deniedCacheMs: number;
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources of a node for path prefixes, the most specific first. */
const special: readonly (readonly [string, string])[] = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/spec', 'spec'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  ['/flagz', 'flagz'],
];

/** Subresources that the right on `proxy` includes, as it did before they had rights of their own. */
const alsoByProxy: readonly (readonly [string, string])[] = [
  ['/configz', 'configz'],
  ['/healthz', 'healthz'],
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
];

/** The subresources of the node; a right on any of them is enough for the path. */
export function agentSubresourcesOf(path: string): string[] {
  const begins = ([start]: readonly [string, string]) => path === start || path.startsWith(`${start}/`);
  const own = special.find(begins);
  if (own !== undefined) return [own[1]];
  const shared = alsoByProxy.find(begins);
  return shared === undefined ? ['proxy'] : [shared[1], 'proxy'];
}

/**
 * The right that a request needs. A client that opens a stream can change what runs in a container, so that is a
 * `create` whatever its method: WebSockets begin with a GET.
 */
export function agentVerbOf(method: string, opensStream: boolean): string {
  return opensStream ? 'create' : (verbs[method] ?? 'get');
}

/** Authorizes requests to the agent: everybody is allowed, or those to whom the API gives rights on the node. */
export class AgentAuthorization {
  private readonly known: TimedCache<boolean>;
  private readonly reviews: Reviews;

  constructor(
    api: ApiUser,
    private readonly names: VendorNames,
    private readonly nodeName: string,
    private readonly settings: AuthorizationSettings,
    timers: Timers,
  ) {
    this.known = new TimedCache(timers);
    this.reviews = new Reviews(api);
  }

  /** @param verb from {@link agentVerbOf}. @throws CallerRefusal 403 */
  async authorize(caller: Caller, verb: string, path: string, signal: AbortSignal): Promise<void> {
    if (this.settings.mode === 'AlwaysAllow') return;
    const subresources = agentSubresourcesOf(path);
    for (const subresource of subresources) {
      if (await this.mayDo(caller, verb, subresource, signal)) return;
    }
    const resource = `nodes, subresource(s)=[${subresources.join(' ')}]`;
    throw new CallerRefusal(403, `Forbidden (user=${caller.name}, verb=${verb}, resource=${resource})`);
  }

  private async mayDo(caller: Caller, verb: string, subresource: string, signal: AbortSignal): Promise<boolean> {
    const key = JSON.stringify([caller, verb, subresource]);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const group = groupName('authorization', this.names);
    const { name, groups, uid, extra } = caller;
    const body = {
      apiVersion: `${group}/v1`,
      kind: 'SubjectAccessReview',
      spec: {
        resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: this.nodeName },
        user: name,
        groups,
        ...(uid === undefined ? {} : { uid }),
        ...(extra === undefined ? {} : { extra }),
      },
    };
    const path = `/apis/${group}/v1/subjectaccessreviews`;
    const { status } = await this.reviews.send<{ status?: { allowed?: boolean } }>(path, body, signal);
    const allowed = status?.allowed === true;
    this.known.set(key, allowed, allowed ? this.settings.allowedCacheMs : this.settings.deniedCacheMs);
    return allowed;
  }
}
