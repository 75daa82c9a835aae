import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { localProfilePrefix, profileAnnotations } from '../../../objects/apis/core/v1/profile-annotations.js';
import type { AppArmorProfile } from '../../../objects/apis/core/v1/security-context.types.js';

/**
 * Sets the field of the containers whose annotation names a profile, and returns warnings. Changes `pod`, which is a
 * new pod.
 */
export function applyAppArmorAnnotations({ metadata, spec }: Pod, names: VendorNames): string[] {
  const annotations = metadata.annotations ?? {};
  if (spec.os?.name === 'windows') return [];
  const { appArmorPrefix } = profileAnnotations(names);
  const warnings: string[] = [];
  const ofPod = spec.securityContext?.appArmorProfile;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const key = `${appArmorPrefix}${container.name}`;
    if (!Object.hasOwn(annotations, key) || container.securityContext?.appArmorProfile !== undefined) continue;
    const profile = profileOf(annotations[key] as string);
    // A container need not repeat the profile of the pod.
    const isOfPod = profile !== undefined && ofPod?.type === profile.type;
    if (isOfPod && ofPod.localhostProfile === profile.localhostProfile) continue;
    warnings.push(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
    if (profile === undefined) continue;
    container.securityContext = { ...container.securityContext, appArmorProfile: profile };
  }
  return warnings;
}

function profileOf(text: string): AppArmorProfile | undefined {
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  if (text === 'unconfined') return { type: 'Unconfined' };
  const local = text.startsWith(localProfilePrefix) ? text.slice(localProfilePrefix.length) : '';
  return local === '' ? undefined : { type: 'Localhost', localhostProfile: local };
}
