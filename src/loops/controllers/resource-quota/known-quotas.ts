import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ResourceQuota } from '../../../objects/apis/core/v1/resource-quota.types.js';
import { isOnlyCharged } from '../../../objects/quota/recount.js';
import type { ObjectSink } from '../../../objects/registry/informers/reflector.js';

type Quota = ResourceQuota & ApiObject;

/**
 * The quotas of all namespaces, as the log reports them. Counts the changes of each quota that were more than charges:
 * such a change invalidates a count that began before it.
 */
export class KnownQuotas implements ObjectSink {
  private namespaces = new Map<string, Map<string, Quota>>();
  private readonly generations = new Map<string, number>();
  private round = 0;

  /** @param onChange receives the namespaces of quotas that are new or changed by more than charges. */
  constructor(private readonly onChange: (namespace: string) => void) {}

  /** Changes with every change of the quota that was more than a charge. */
  generation(namespace: string, name: string): string {
    return `${this.round}/${this.generations.get(`${namespace}/${name}`) ?? 0}`;
  }

  /** The generation of each quota of a namespace, by name. */
  generationsOf(namespace: string): ReadonlyMap<string, string> {
    const names = this.namespaces.get(namespace)?.keys() ?? [];
    return new Map([...names].map((name) => [name, this.generation(namespace, name)]));
  }

  has(namespace: string): boolean {
    return this.namespaces.has(namespace);
  }

  /** All namespaces with quotas. */
  all(): string[] {
    return [...this.namespaces.keys()];
  }

  /** The names of resources that the quotas of a namespace limit. */
  limitedNames(namespace: string): ReadonlySet<string> {
    const quotas = this.namespaces.get(namespace)?.values() ?? [];
    return new Set([...quotas].flatMap(({ spec }) => Object.keys(spec.hard ?? {})));
  }

  replace(objects: readonly ApiObject[]): void {
    this.round++;
    this.generations.clear();
    this.namespaces = new Map();
    for (const object of objects) this.put(object as Quota);
    for (const namespace of this.namespaces.keys()) this.onChange(namespace);
  }

  set(object: ApiObject): void {
    const { namespace = '', name = '' } = object.metadata;
    const before = this.namespaces.get(namespace)?.get(name);
    this.put(object as Quota);
    if (before !== undefined && isOnlyCharged(before, object as Quota)) return;
    const key = `${namespace}/${name}`;
    this.generations.set(key, (this.generations.get(key) ?? 0) + 1);
    this.onChange(namespace);
  }

  delete(namespace: string, name: string): void {
    const quotas = this.namespaces.get(namespace);
    quotas?.delete(name);
    if (quotas?.size === 0) this.namespaces.delete(namespace);
    // A deleted quota needs no generation. The new round keeps its old generations from being reused.
    this.generations.delete(`${namespace}/${name}`);
    this.round++;
  }

  private put(quota: Quota): void {
    const { namespace = '', name = '' } = quota.metadata;
    const quotas = this.namespaces.get(namespace) ?? new Map<string, Quota>();
    quotas.set(name, quota);
    this.namespaces.set(namespace, quotas);
  }
}
