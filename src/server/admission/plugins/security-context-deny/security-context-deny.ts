import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { containersOf } from '../../pods/containers-of.js';
import { isForPods } from '../../pods/pod-request.js';
import { refused } from '../../refused.js';

/** Refuses pods that choose users, groups or SELinux labels. Deprecated; `PodSecurity` does more. */
export class SecurityContextDeny implements AdmissionPlugin {
  readonly name = 'SecurityContextDeny';

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  validate(attributes: AdmissionAttributes): void {
    if (!isForPods(attributes) && !isForPods(attributes, 'ephemeralcontainers')) return;
    if (attributes.object === undefined) return;
    const field = forbiddenField(attributes.object as unknown as Pod);
    if (field !== undefined) throw refused(attributes, `${field} is forbidden`);
  }
}

/** The first forbidden field that is set, named as in the messages that clients know. */
function forbiddenField({ spec }: Pod): string | undefined {
  const pod = spec.securityContext;
  const podFields = [
    ['SupplementalGroups', pod?.supplementalGroups],
    ['SELinuxOptions', pod?.seLinuxOptions],
    ['RunAsUser', pod?.runAsUser],
    ['FSGroup', pod?.fsGroup],
  ] as const;
  const found = podFields.find(([, value]) => value !== undefined);
  if (found !== undefined) return `pod.Spec.SecurityContext.${found[0]}`;
  for (const { securityContext } of containersOf(spec)) {
    if (securityContext?.seLinuxOptions !== undefined) return 'SecurityContext.SELinuxOptions';
    if (securityContext?.runAsUser !== undefined) return 'SecurityContext.RunAsUser';
  }
  return undefined;
}
