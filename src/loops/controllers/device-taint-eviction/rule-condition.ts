import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';

/** What a rule does at the moment, or would do. */
export interface RuleEffect {
  /** Pods that have to leave, and in how many namespaces they are. */
  readonly pods: number;
  readonly namespaces: number;
  /** Devices that the rule selects: those that drivers publish, and those that claims have. */
  readonly published: number;
  readonly allocated: number;
  /** Pods that left since the controller started. */
  readonly evicted: number;
}

/** The condition `EvictionInProgress` of a rule, without its times. */
export interface RuleCondition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const preview =
  'if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.';

/** Reports what a rule does, in upstream's words. */
export function ruleCondition({ spec }: DeviceTaintRule, effect: RuleEffect): RuleCondition {
  const { pods, namespaces, published, allocated, evicted } = effect;
  const done = evicted === 0 ? '' : `${count(evicted, 'pod', 'pods')} evicted since starting the controller.`;
  const places = count(namespaces, 'namespace', 'different namespaces');
  switch (spec.taint.effect) {
    case 'NoExecute': {
      if (pods === 0) return { status: 'False', reason: evicted > 0 ? 'Completed' : 'NotStarted', message: done };
      const message = `${pods === 1 ? '1 pod needs' : `${pods} pods need`} to be evicted in ${places}.`;
      return { status: 'True', reason: 'PodsPendingEviction', message: joined(message, done) };
    }
    case 'None': {
      const devices = `${count(published, 'published device', 'published devices')} selected. ${count(allocated, 'allocated device', 'allocated devices')} selected.`;
      const message = `${devices} ${count(pods, 'pod', 'pods')} would be evicted in ${places} ${preview}`;
      return { status: 'False', reason: 'NoEffect', message: joined(message, done) };
    }
    default: {
      const message = joined('Eviction only happens for the NoExecute effect.', done);
      return { status: 'False', reason: 'OtherEffect', message };
    }
  }
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
