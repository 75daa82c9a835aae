import { isBootstrapGroup } from '../machinery/bootstrap-token.js';

/** The group of the bootstrap tokens with which nodes join, named as joining tools expect. */
export const joiningGroup = 'system:bootstrappers:kubeadm:default-node-token';

/** The problem with the extra groups of a bootstrap token, or undefined. */
export function bootstrapGroupsProblem(groups: readonly string[]): string | undefined {
  const wrong = groups.find((group) => !isBootstrapGroup(group));
  return wrong === undefined
    ? undefined
    : `has ${JSON.stringify(wrong)}: a group begins with system:bootstrappers: and goes on with a-z, 0-9, - and :`;
}
