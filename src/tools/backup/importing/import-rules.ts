import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cleanForCreate } from '../recreate/clean-for-create.js';
import { plainKind } from '../recreate/creation-order.js';
import { leftOut } from '../recreate/made-by-itself.js';

/** What an import takes from a backup, and how. */
export interface TakingOptions {
  /** Whether to take also objects that controllers make (pods of workloads), and finished jobs and pods. */
  readonly withDerived: boolean;
  /** Whether to take also volumes that a provisioner made; their data has to be reachable from here. */
  readonly withVolumes: boolean;
  /** Whether services request the addresses and ports that they had. */
  readonly keepAddresses: boolean;
}

/** An object to create, or the reason why it is left out. */
export type Taking = { readonly object: ApiObject } | { readonly why: string };

const provisioned = /^pv\.[^/]*\/provisioned-by$/;

/**
 * Decides about the objects of a backup. Volumes have to come before claims: it remembers them, because a claim keeps
 * its volume only if the volume exists.
 */
export class ImportRules {
  private readonly volumes = new Set<string>();

  constructor(private readonly options: TakingOptions) {}

  /** Records that the cluster has a volume of this name. */
  hasVolume(name: string): void {
    this.volumes.add(name);
  }

  take(object: ApiObject): Taking {
    const rule = leftOut(object);
    if (rule !== undefined) {
      const isWanted = this.options.withDerived && (rule.rule === 'derived' || rule.rule === 'ended');
      if (!isWanted) return { why: rule.why };
    }
    const isVolume = plainKind(object.apiVersion ?? '', object.kind ?? '') === '/PersistentVolume';
    if (isVolume) {
      const annotations = Object.keys(object.metadata.annotations ?? {});
      if (!this.options.withVolumes && annotations.some((mark) => provisioned.test(mark))) {
        return { why: 'was made by a provisioner of the cluster it comes from; --with-volumes takes it' };
      }
      this.volumes.add(object.metadata.name ?? '');
    }
    const hasVolume = (name: string) => this.volumes.has(name);
    const clean = cleanForCreate(object, { hasVolume, addresses: this.options.keepAddresses });
    return { object: this.options.withDerived ? clean : scaledByOwner(clean) };
  }
}

/** Whether the deployment of a replica set decides how many pods it has. */
export function isOfDeployment({ apiVersion = '', kind = '', metadata }: ApiObject): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const isOwned = owner !== undefined && plainKind(owner.apiVersion, owner.kind) === 'apps/Deployment';
  return isOwned && plainKind(apiVersion, kind) === 'apps/ReplicaSet';
}

/**
 * A replica set of a deployment, with 0 replicas: the deployment scales the one that it wants. It may have made one
 * already, with another name in a cluster of another version, and there must not be pods of both.
 */
function scaledByOwner(object: ApiObject): ApiObject {
  return isOfDeployment(object) ? { ...object, spec: { ...(object.spec as object), replicas: 0 } } : object;
}

/** Whether every cluster has this object from its beginning. */
export function isGiven({ apiVersion = '', kind = '', metadata: { name = '' } }: ApiObject): boolean {
  const plain = plainKind(apiVersion, kind);
  if (plain === '/ServiceAccount') return name === 'default';
  return plain === '/Namespace' && /^(default|(kube|control)-(system|public|node-lease))$/.test(name);
}
