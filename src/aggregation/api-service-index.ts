import { compareVersionPriority } from '../machinery/version-priority.js';
import type { CountingLister } from '../registry/informers/shared-listers.js';
import { isRemote, type KnownApiService, type RemoteApiService } from './known-api-service.js';
import type { ApiPriority, LocalPriorities } from './local-priorities.js';

/** A group with its versions, the preferred one first. */
export interface OrderedGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

/** Which group versions other servers serve, and the order of all of them. Follows the APIServices. */
export class ApiServiceIndex {
  private seen = -1;
  private byGroupVersion: ReadonlyMap<string, KnownApiService> = new Map();
  private remoteServices: readonly RemoteApiService[] = [];
  private remoteByGroupVersion: ReadonlyMap<string, RemoteApiService> = new Map();

  constructor(
    private readonly services: CountingLister<KnownApiService>,
    private readonly priorities: LocalPriorities,
  ) {}

  /** Grows with every change of an APIService. */
  get changes(): number {
    return this.services.changes;
  }

  /** The other server of a group version; undefined when this one serves it, or nobody does. */
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
   * priority, then the more stable and newer first. An APIService decides, for local groups too.
   */
  ordered(local: readonly OrderedGroup[]): OrderedGroup[] {
    this.refresh();
    const versions = new Map<string, Set<string>>(local.map((one) => [one.group, new Set(one.versions)]));
    for (const { group, version } of this.remoteServices) {
      const known = versions.get(group);
      if (known === undefined) versions.set(group, new Set([version]));
      else known.add(version);
    }
    const ranked = [...versions].map(([group, set]) => {
      const entries = [...set].map((version) => ({ version, priority: this.priorityOf(group, version) }));
      entries.sort((a, b) => b.priority.version - a.priority.version || compareVersionPriority(a.version, b.version));
      return { group, entries, rank: Math.max(...entries.map(({ priority }) => priority.group)) };
    });
    ranked.sort((a, b) => b.rank - a.rank || (a.group < b.group ? -1 : 1));
    return ranked.map(({ group, entries }) => ({ group, versions: entries.map(({ version }) => version) }));
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
    // The core group and the group of APIServices can't be given away: nobody could take such a mistake back.
    this.remoteServices = known
      .filter(isRemote)
      .filter(({ group }) => group !== '' && group !== this.priorities.ownGroup);
    this.remoteByGroupVersion = new Map(
      this.remoteServices.map((service) => [`${service.group}/${service.version}`, service]),
    );
  }
}
