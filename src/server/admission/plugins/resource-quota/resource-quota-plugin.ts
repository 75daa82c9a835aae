import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { Clock } from '../../../../base/machinery/clock.js';
import { forbiddenError } from '../../../../base/machinery/status-error.js';
import { compareQuantities } from '../../../../base/machinery/values/quantity.js';
import type { ResourceQuota } from '../../../../objects/apis/core/v1/resource-quota.types.js';
import { type LimitedResource, uncoveredReason } from '../../../../objects/quota/limited-resources.js';
import { QuotaLedger, type QuotaRequest } from '../../../../objects/quota/quota-ledger.js';
import type { UsageEvaluator } from '../../../../objects/quota/usage-evaluator.js';
import { UsageEvaluators } from '../../../../objects/quota/usage-evaluators.js';
import type { ReadLister } from '../../../../objects/registry/informers/shared-listers.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { readQuotaConfiguration } from './quota-configuration.js';

const quotas = { group: '', resource: 'resourcequotas' };

/** How long the cache may lag behind the change log, in milliseconds; after that, quotas are read from the store. */
const maxLostMs = 2_000;

/**
 * Enforces resource quotas (specification 2.4, 5.5): the amounts that a write adds are charged in the transaction of
 * the write (see {@link QuotaLedger}). Quotas are found in the cache, so a namespace without quotas costs nothing.
 */
export class ResourceQuotaPlugin implements AdmissionPlugin {
  readonly name = 'ResourceQuota';
  private readonly known: ReadLister<readonly string[]>;
  private readonly limited: readonly LimitedResource[];
  private readonly evaluators: UsageEvaluators;
  private readonly dependencies: Pick<AdmissionDependencies, 'stores'>;
  private readonly clock: Clock;
  private ledger: QuotaLedger | undefined;

  constructor(
    dependencies: Pick<AdmissionDependencies, 'listers' | 'configuration' | 'names' | 'registry' | 'stores' | 'clock'>,
  ) {
    const { names, registry, listers, configuration, clock } = dependencies;
    this.dependencies = dependencies;
    this.clock = clock;
    this.known = listers.of(quotas, limitedNames);
    this.limited = readQuotaConfiguration(configuration.of(this.name), names);
    this.evaluators = new UsageEvaluators(registry, names);
    this.ledger = undefined;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const { namespace, operation, subresource, resource } = attributes;
    const isLost = this.known.lostForMs > maxLostMs;
    const isFree = !isLost && this.known.inNamespace(namespace).next().done === true;
    if (isFree && this.limited.length === 0) return;
    if (operation === 'CREATE' && subresource !== '') return;
    const evaluator = this.evaluators.of(resource.group, resource.version, resource.resource);
    if (evaluator === undefined) return;
    const limited = this.limited.filter((one) => one.group === resource.group && one.resource === resource.resource);
    if (limited.length === 0 && !isLost && !this.concerns(namespace, evaluator)) return;
    const request = this.requestOf(attributes, evaluator, limited);
    if (operation === 'UPDATE' && !mayRise(request, subresource)) return;
    const ledger = this.ledgerOf();
    if (attributes.dryRun) return ledger.check(request);
    attributes.writeThrough((write) => ledger.write(request, write));
  }

  private concerns(namespace: string, evaluator: UsageEvaluator): boolean {
    for (const names of this.known.inNamespace(namespace)) {
      if (names.some((name) => evaluator.measures(name))) return true;
    }
    return false;
  }

  private requestOf(
    attributes: AdmissionAttributes,
    evaluator: UsageEvaluator,
    limited: readonly LimitedResource[],
  ): QuotaRequest {
    const { namespace, resource, name } = attributes;
    const object = attributes.storedObject as ApiObject;
    const change = { evaluator, object, old: attributes.storedOldObject, now: this.clock.now() };
    return {
      ...change,
      namespace,
      uncovered: limited.length === 0 ? undefined : (found) => uncoveredReason(change, limited, found),
      refusal: (reason) => forbiddenError(resource, name, reason),
    };
  }

  /** Created on first use: the registry is complete only after the start. */
  private ledgerOf(): QuotaLedger {
    if (this.ledger === undefined) {
      const { storage, registry } = this.dependencies.stores;
      const resource = registry.findStored(quotas.resource);
      if (resource === undefined) throw new Error('the resource resourcequotas is not registered');
      this.ledger = new QuotaLedger(storage, resource, () => this.known.lostForMs > maxLostMs);
    }
    return this.ledger;
  }
}

/** The resources that the quota limits according to its spec or its status. */
function limitedNames(object: ApiObject): readonly string[] {
  const { spec, status } = object as ResourceQuota & ApiObject;
  return [...new Set([...Object.keys(spec.hard ?? {}), ...Object.keys(status?.hard ?? {})])];
}

/** Whether an update may increase the usage of some quota. */
function mayRise({ evaluator, object, old, now }: QuotaRequest, subresource: string): boolean {
  if (old === undefined) return true;
  if (!evaluator.mayRiseBy(subresource, object, old)) return false;
  // If quotas for the resource have scopes, the update may move the object into one.
  if (evaluator.isInScope !== undefined) return true;
  const before = evaluator.usage(old, now);
  for (const [name, amount] of evaluator.usage(object, now)) {
    if (compareQuantities(amount, before.get(name) ?? '0') > 0) return true;
  }
  return false;
}
