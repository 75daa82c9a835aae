import type { Container } from './container.types.js';
import type { Pod } from './pod.types.js';

/** The action of a restart rule that restarts all containers of the pod when one of them exits. */
export const restartAllAction = 'RestartAllContainers';

/** The action of the first restart rule of a container that matches an exit code; undefined if none does. */
export function restartRuleAction(
  { restartPolicyRules }: Pick<Container, 'restartPolicyRules'>,
  exitCode: number,
): string | undefined {
  return restartPolicyRules?.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) === true;
    return exitCodes?.operator === 'NotIn' ? !isListed : isListed;
  })?.action;
}

/** Whether the exit of a container may restart all containers of the pod. */
export function mayRestartAll({ spec }: Pick<Pod, 'spec'>): boolean {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === restartAllAction),
  );
}
