import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { Condition } from '../../../objects/apis/meta/v1/condition.types.js';
import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import { poolId, type StoredSlice } from '../../scheduler/devices/device-objects.js';
import { isRuleFor } from '../../scheduler/devices/tainted-devices.js';
import type { StoredPod } from '../frame/indexes.js';
import { markDisrupted } from '../frame/mark-disrupted.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import { claimKeysOf, type StoredResourceClaim } from '../resource-claim/pod-claims.js';
import type { WorkOutcome } from '../work-queue.js';
import { type EvictionObjects, evictionOf, newest, type StoredRule } from './device-evictions.js';
import { ruleCondition } from './rule-condition.js';

type Rule = DeviceTaintRule & ApiObject;

const podKey = 'pod:';
const ruleKey = 'rule:';
const conditionType = 'EvictionInProgress';
const eventReason = 'DeviceTaintManagerEviction';
/** The shortest time between two reports about a rule. */
const reportMs = 10_000;

/**
 * Deletes pods whose devices have taints that their claims do not tolerate, and reports in the status of rules what
 * they do.
 */
export class DeviceTaintEvictionController extends ReconcileLoop {
  readonly name = 'device-taint-eviction-controller';
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly claims = this.informer<StoredResourceClaim>('resource', 'resourceclaims');
  private readonly slices = this.informer<StoredSlice>('resource', 'resourceslices');
  private readonly rules = this.informer<Rule>('resource', 'devicetaintrules');
  private readonly podsByClaim = this.pods.index('resource claims', claimKeysOf);
  private readonly claimsByPool = this.claims.index('pools of devices', ({ status }) => [
    ...new Set((status?.allocation?.devices.results ?? []).map(({ driver, pool }) => poolId(driver, pool))),
  ]);
  private readonly slicesByPool = this.slices.index('pool', ({ spec }) => [poolId(spec.driver, spec.pool.name)]);
  /** Pods that have to leave at a later time, and since when this loop knows of the taints. */
  private readonly leaving = new Map<string, { readonly uid: string; readonly seenAt: number }>();
  /** How many pods left because of each rule, by its uid. */
  private readonly evicted = new Map<string, number>();
  private readonly objects: EvictionObjects = {
    claim: (namespace, name) => this.claims.get(namespace, name),
    slicesOfPool: (id) => this.slicesByPool.get(id),
  };

  protected override partyOf(key: string): string {
    return splitKey(key.slice(key.indexOf(':') + 1)).namespace;
  }

  protected override started(): void {
    this.leaving.clear();
    this.evicted.clear();
  }

  protected sources(): readonly Source[] {
    return [
      source(this.pods, (pod, old) => {
        const known = (pod ?? old) as StoredPod;
        return claimKeysOf(known).length > 0 || this.leaving.has(keyOf(known)) ? [podKey + keyOf(known)] : [];
      }),
      source(this.claims, (claim, old) => (deepEqual(claim?.status, old?.status) ? [] : this.podsOf(claim ?? old))),
      source(this.slices, (slice, old) => this.keysOfSlice(slice, old)),
      source(this.rules, (rule, old) => {
        if (rule !== undefined && old !== undefined && deepEqual(rule.spec, old.spec)) return [];
        const { name = '' } = ((rule ?? old) as Rule).metadata;
        return [ruleKey + name, ...this.podsOfRule(rule), ...this.podsOfRule(old)];
      }),
    ];
  }

  protected reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    if (key.startsWith(podKey)) return this.reconcilePod(key.slice(podKey.length), work);
    return this.reconcileRule(key.slice(ruleKey.length), work);
  }

  private podsOf(claim: Readonly<StoredResourceClaim> | undefined): string[] {
    return claim === undefined ? [] : [...this.podsByClaim.get(keyOf(claim))].map((pod) => podKey + keyOf(pod));
  }

  private keysOfSlice(slice: StoredSlice | undefined, old: StoredSlice | undefined): string[] {
    if (deepEqual(taintsIn(slice), taintsIn(old)) && slice?.spec.pool.generation === old?.spec.pool.generation)
      return [];
    const { driver, pool } = ((slice ?? old) as StoredSlice).spec;
    return [...this.claimsByPool.get(poolId(driver, pool.name))].flatMap((claim) => this.podsOf(claim));
  }

  /** Rules change seldom, so all claims with devices are checked. */
  private podsOfRule(rule: Rule | undefined): string[] {
    if (rule?.spec.taint.effect !== 'NoExecute') return [];
    const keys: string[] = [];
    for (const claim of this.claims.all()) {
      const isConcerned = (claim.status.allocation?.devices.results ?? []).some((result) => isRuleFor(rule, result));
      if (isConcerned) keys.push(...this.podsOf(claim));
    }
    return keys;
  }

  private async reconcilePod(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    const { uid = '', deletionTimestamp } = pod?.metadata ?? {};
    const before = this.leaving.get(key);
    const known = before?.uid === uid ? before : undefined;
    this.leaving.delete(key);
    if (pod === undefined || deletionTimestamp !== undefined) return 'done';
    const now = this.dependencies.timers.now();
    const seenAt = known?.seenAt ?? now;
    const eviction = evictionOf(pod, [...this.rules.all()], this.objects, seenAt);
    if (eviction === undefined) {
      if (known !== undefined) this.events.normal(pod, eventReason, 'Cancelling deletion');
      return 'done';
    }
    if (eviction.at > now) {
      this.leaving.set(key, { uid, seenAt });
      return eviction.at - now;
    }
    this.events.normal(pod, eventReason, 'Marking for deletion');
    const message = 'Device Taint manager: deleting due to NoExecute taint';
    const pods = this.client<StoredPod>('', 'pods');
    await pods.updateStatus(work, pod, (live) => {
      return markDisrupted(live, { reason: 'DeletionByDeviceTaintManager', message, time: formatTime(now) });
    });
    if (!(await pods.delete(work, pod))) return 'done';
    const { timers, loopMetrics } = this.dependencies;
    loopMetrics?.deviceTaintEvictions.deleted((timers.now() - eviction.at) / 1000);
    for (const rule of this.rules.all()) {
      const { uid: ruleUid = '', name: ruleName = '' } = rule.metadata;
      if (!eviction.rules.has(ruleUid)) continue;
      this.evicted.set(ruleUid, (this.evicted.get(ruleUid) ?? 0) + 1);
      this.enqueue(ruleKey + ruleName, reportMs);
    }
    return 'done';
  }

  private async reconcileRule(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const rule = this.rules.get('', name);
    if (rule === undefined) return 'done';
    const now = this.dependencies.timers.now();
    const known = rule.status.conditions?.find(({ type }) => type === conditionType);
    const sinceMs = known?.lastTransitionTime ? now - Date.parse(known.lastTransitionTime) : reportMs;
    const generation = rule.metadata.generation ?? 0;
    if (known !== undefined && Number(known.observedGeneration) === generation && sinceMs < reportMs) {
      return reportMs - sinceMs;
    }
    const { status, reason, message } = ruleCondition(rule, this.effectOf(rule, now));
    const isSaid = known?.status === status && known.reason === reason && known.message === message;
    if (!isSaid || Number(known?.observedGeneration) !== generation) {
      const condition = {
        ...{ type: conditionType, status, reason, message, observedGeneration: generation },
        lastTransitionTime: formatTime(now),
      } as Condition;
      await this.client<Rule>('resource', 'devicetaintrules').updateStatus(work, rule, (live) => {
        const others = (live.status.conditions ?? []).filter(({ type }) => type !== conditionType);
        live.status.conditions = [...others, condition];
        return live;
      });
    }
    // While an eviction is in progress, its condition is updated periodically.
    return status === 'True' ? reportMs : 'done';
  }

  private effectOf(rule: Rule, now: number) {
    const { effect } = rule.spec.taint;
    const evicted = this.evicted.get(rule.metadata.uid ?? '') ?? 0;
    const counts = { pods: 0, namespaces: 0, published: 0, allocated: 0, evicted };
    if (effect !== 'NoExecute' && effect !== 'None') return counts;
    // Counts what the rule would evict with the effect NoExecute.
    const taint = { ...rule.spec.taint, effect: 'NoExecute' as const };
    const evicting: StoredRule = { ...rule, spec: { ...rule.spec, taint } };
    const namespaces = new Set<string>();
    for (const pod of this.pods.all()) {
      if (claimKeysOf(pod).length === 0 || pod.metadata.deletionTimestamp !== undefined) continue;
      if (evictionOf(pod, [evicting], this.objects, now)?.rules.has(rule.metadata.uid ?? '') !== true) continue;
      counts.pods += 1;
      namespaces.add(pod.metadata.namespace ?? '');
    }
    counts.namespaces = namespaces.size;
    if (effect === 'None') {
      counts.published = this.publishedBy(rule);
      for (const { status } of this.claims.all()) {
        counts.allocated += (status.allocation?.devices.results ?? []).filter((each) => isRuleFor(rule, each)).length;
      }
    }
    return counts;
  }

  private publishedBy(rule: Rule): number {
    const pools = new Set([...this.slices.all()].map(({ spec }) => poolId(spec.driver, spec.pool.name)));
    let sum = 0;
    for (const id of pools) {
      for (const { spec } of newest(this.slicesByPool.get(id))) {
        const { driver, pool, devices = [] } = spec;
        sum += devices.filter(({ name }) => isRuleFor(rule, { driver, pool: pool.name, device: name })).length;
      }
    }
    return sum;
  }
}

/** The taints in a slice that evict, by device. */
function taintsIn(slice: StoredSlice | undefined): unknown {
  return (slice?.spec.devices ?? []).flatMap(({ name, taints = [] }) => {
    const driving = taints.filter(({ effect }) => effect === 'NoExecute');
    return driving.length === 0 ? [] : [{ name, driving }];
  });
}
