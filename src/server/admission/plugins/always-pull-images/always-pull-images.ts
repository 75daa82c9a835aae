import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { type AnyContainer, containersOf } from '../../pods/containers-of.js';
import { isForPods } from '../../pods/pod-request.js';
import { refused } from '../../refused.js';

/**
 * Makes nodes pull every image from its registry (specification 5.5), so that a pod can use an image only if it may
 * pull it, even if the node already has the image. Applies to new pods, and to containers that an update adds or whose
 * image it changes.
 */
export class AlwaysPullImages implements AdmissionPlugin {
  readonly name = 'AlwaysPullImages';

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): void {
    for (const container of newContainers(attributes)) container.imagePullPolicy = 'Always';
    for (const { image } of newVolumes(attributes)) if (image !== undefined) image.pullPolicy = 'Always';
  }

  validate(attributes: AdmissionAttributes): void {
    for (const { name, imagePullPolicy = '' } of newContainers(attributes)) {
      if (imagePullPolicy !== 'Always') throw refused(attributes, policyProblem(`container ${name}`, imagePullPolicy));
    }
    for (const { name, image } of newVolumes(attributes)) {
      if (image === undefined || image.pullPolicy === 'Always') continue;
      throw refused(attributes, policyProblem(`volume ${name}`, image.pullPolicy ?? ''));
    }
  }
}

function policyProblem(what: string, policy: string): string {
  return `the image of ${what} must be pulled with policy "Always", not ${JSON.stringify(policy)}`;
}

/** The containers whose images were not checked yet. */
function newContainers(attributes: AdmissionAttributes): AnyContainer[] {
  if (!isForPods(attributes) && !isForPods(attributes, 'ephemeralcontainers')) return [];
  const pod = attributes.object as Pod | undefined;
  if (pod === undefined) return [];
  const old = attributes.oldObject as Pod | undefined;
  if (old === undefined) return [...containersOf(pod.spec)];
  const images = new Map([...containersOf(old.spec)].map(({ name, image }) => [name, image]));
  return [...containersOf(pod.spec)].filter(({ name, image }) => !images.has(name) || images.get(name) !== image);
}

/** Volumes of a pod can't change. */
function newVolumes(attributes: AdmissionAttributes): NonNullable<Pod['spec']['volumes']> {
  if (attributes.operation !== 'CREATE' || !isForPods(attributes)) return [];
  return (attributes.object as Pod | undefined)?.spec.volumes ?? [];
}
