import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { decodeStored, type StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { dependencyOf } from '../token-authenticator.js';
import type { ObjectClaim } from './claims.js';
import { TokenObjectError } from './token-object-error.js';

/** An object being deleted counts as existing for this long, so that its users can shut down in order. */
const deletionGraceMs = 60_000;

/** Storage resources that tokens depend on. */
export const tokenResources = ['serviceaccounts', 'pods', 'secrets', 'nodes'] as const;
export type TokenResource = (typeof tokenResources)[number];

const invalidated = 'service account token has been invalidated';

/** Reads the objects that one token depends on from the store, and collects the name of each object read. */
export class AccountObjects {
  readonly dependsOn: string[] = [];

  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    private readonly clock: Clock,
  ) {}

  /**
   * The service account. Throws {@link TokenObjectError} when it is gone or was replaced by another of the same name.
   */
  async account(namespace: string, { name, uid }: ObjectClaim): Promise<ApiObject> {
    const found = await this.get('serviceaccounts', namespace, name);
    if (found === undefined) throw new TokenObjectError(`serviceaccounts ${JSON.stringify(name)} not found`);
    if (this.isGone(found)) throw new TokenObjectError(invalidated);
    if (found.metadata.uid !== uid) {
      throw new TokenObjectError(`service account UID (${found.metadata.uid}) does not match claim (${uid})`);
    }
    return found;
  }

  /** An object that the token is bound to. Throws {@link TokenObjectError} when it is gone or was replaced. */
  async bound(resource: TokenResource, namespace: string, { name, uid }: ObjectClaim): Promise<ApiObject> {
    const found = await this.get(resource, namespace, name);
    const isSame = found !== undefined && (uid === '' || found.metadata.uid === uid);
    if (!isSame || this.isGone(found)) throw new TokenObjectError(invalidated);
    return found;
  }

  private async get(resource: TokenResource, namespace: string, name: string): Promise<ApiObject | undefined> {
    this.dependsOn.push(dependencyOf(resource, namespace, name));
    const stored = await this.storage.get({ resource, namespace, name });
    return stored === undefined ? undefined : decodeStored(this.registry, stored);
  }

  private isGone({ metadata }: ApiObject): boolean {
    const { deletionTimestamp } = metadata;
    return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + deletionGraceMs < this.clock.now();
  }
}
