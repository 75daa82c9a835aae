import { type FieldError, FieldPath, forbidden } from '../../../base/machinery/field-error.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { mayRestartAll, restartRuleAction } from '../../../objects/apis/core/v1/restart-rules.js';

const containersOf = {
  containerStatuses: 'containers',
  initContainerStatuses: 'initContainers',
  ephemeralContainerStatuses: undefined,
} as const;

/**
 * Checks that a finished container stays finished, unless its policy or a rule restarts it or the whole pod. Nothing
 * restarts an ephemeral one.
 */
export function transitionErrors(field: keyof typeof containersOf, pod: Pod, old: Pod): FieldError[] {
  const place = containersOf[field];
  if (place !== undefined && mayRestartAll(old)) return [];
  const containers = (place === undefined ? undefined : old.spec[place]) ?? [];
  const live = new Set(
    (pod.status[field] ?? []).filter(({ state }) => state.terminated === undefined).map(({ name }) => name),
  );
  return (old.status[field] ?? []).flatMap(({ name, state: { terminated } }, i) => {
    if (terminated === undefined || !live.has(name)) return [];
    const container = containers.find((each) => each.name === name);
    if (container !== undefined && isRestarted(container, old, terminated.exitCode)) return [];
    const path = FieldPath.of('status', field).index(i).child('state');
    return [forbidden(path, 'may not be transitioned to non-terminated state')];
  });
}

function isRestarted(container: Container, { spec }: Pod, exitCode: number): boolean {
  const own = container.restartPolicy;
  if (own && restartRuleAction(container, exitCode) !== undefined) return true;
  const policy = own || spec.restartPolicy || 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
