import type { CountingLister } from '../../objects/registry/informers/shared-listers.js';
import { type OrderedGroup, orderGroups } from './group-order.js';
import { isRemote, type KnownApiService, type RemoteApiService } from './known-api-service.js';
import type { ApiPriority, LocalPriorities } from './local-priorities.js';

/** Which group versions other servers serve, and the order of all group versions. Follows the APIServices. */
export class ApiServiceIndex {
  private seen = -1;
  private byGroupVersion: ReadonlyMap<string, KnownApiService> = new Map();
  private remoteServices: readonly RemoteApiService[] = [];
  private remoteByGroupVersion: ReadonlyMap<string, RemoteApiService> = new Map();

  constructor(
    private readonly services: CountingLister<KnownApiService>,
    private readonly priorities: LocalPriorities,
  ) {}

  /** Incremented at every change of an APIService. */
  get changes(): number {
    return this.services.changes;
  }

  /** The other server of a group version; undefined when this server or none serves it. */
  remote(group: string, version: string): RemoteApiService | undefined {
    this.refresh();
    return this.remoteServices.length === 0 ? undefined : this.remoteByGroupVersion.get(`${group}/${version}`);
  }

  /** All group versions of other servers, by name. */
  remotes(): readonly RemoteApiService[] {
    this.refresh();
    return this.remoteServices;
  }

  /**
   * Local and remote groups in the order of discovery: groups by their highest priority, then by name; versions by
   * priority, then the more stable and newer first. An APIService sets the priorities, for local groups too.
   */
  ordered(local: readonly OrderedGroup[]): OrderedGroup[] {
    this.refresh();
    const versions = new Map<string, Set<string>>(local.map((one) => [one.group, new Set(one.versions)]));
    for (const { group, version } of this.remoteServices) {
      const known = versions.get(group);
      if (known === undefined) versions.set(group, new Set([version]));
      else known.add(version);
    }
    return orderGroups(versions, (group, version) => this.priorityOf(group, version));
  }

  private priorityOf(group: string, version: string): ApiPriority {
    const known = this.byGroupVersion.get(`${group}/${version}`);
    if (known === undefined || group === this.priorities.ownGroup) return this.priorities.of(group, version);
    return { group: known.groupPriority, version: known.versionPriority };
  }

  private refresh(): void {
    if (this.seen === this.services.changes) return;
    this.seen = this.services.changes;
    const known = [...this.services.all()].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.byGroupVersion = new Map(known.map((service) => [`${service.group}/${service.version}`, service]));
    // The core group and the group of APIServices can't be delegated: such a mistake could not be undone through the
    // API.
    this.remoteServices = known
      .filter(isRemote)
      .filter(({ group }) => group !== '' && group !== this.priorities.ownGroup);
    this.remoteByGroupVersion = new Map(
      this.remoteServices.map((service) => [`${service.group}/${service.version}`, service]),
    );
  }
}
