import type { Container } from './container.types.js';
import type { Pod } from './pod.types.js';

/** The action by which the end of one container makes the whole pod start anew. */
export const restartAllAction = 'RestartAllContainers';

/** What the rules of a container say about such an end: the action of the first that fits; undefined: none does. */
export function restartRuleAction(
  { restartPolicyRules }: Pick<Container, 'restartPolicyRules'>,
  exitCode: number,
): string | undefined {
  return restartPolicyRules?.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) === true;
    return exitCodes?.operator === 'NotIn' ? !isListed : isListed;
  })?.action;
}

/** Whether some end of a container may make the whole pod start anew. */
export function mayRestartAll({ spec }: Pick<Pod, 'spec'>): boolean {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === restartAllAction),
  );
}
