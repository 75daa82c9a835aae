import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionAttributes } from '../attributes.js';

/** Whether the request is for pods themselves or the named subresource of pods. */
export function isForPods({ resource, subresource }: AdmissionAttributes, name = ''): boolean {
  return resource.resource === 'pods' && resource.group === '' && subresource === name;
}

/** The pod of a create; undefined for other requests, such as those for subresources. It may be changed. */
export function createdPod(attributes: AdmissionAttributes): Pod | undefined {
  if (attributes.operation !== 'CREATE' || !isForPods(attributes)) return undefined;
  return attributes.object as Pod | undefined;
}
