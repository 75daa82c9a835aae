import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { ownValue } from '../../base/machinery/own-value.js';
import { compareQuantities, quantityOf, scaledQuantity, wholeQuantity } from '../../base/machinery/values/quantity.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { PersistentVolumeClaim } from '../apis/core/v1/persistent-volume-claim.types.js';
import { matchesName } from './scope-values.js';
import type { UsageEvaluator } from './usage-evaluator.js';

const claims = 'persistentvolumeclaims';
const storage = 'requests.storage';

/** Usage of persistent volume claims: their number and size, in total and by storage class. */
export function claimUsage(names: VendorNames): UsageEvaluator {
  const ofClass = `.storageclass.${groupName('storage', names)}/`;
  const classAnnotation = `volume.beta.${names.labelPrefix}/storage-class`;
  return {
    measures: (name) =>
      name === claims ||
      name === `count/${claims}` ||
      name === storage ||
      name.endsWith(`${ofClass}${claims}`) ||
      name.endsWith(`${ofClass}${storage}`),

    usage(object) {
      const claim = object as PersistentVolumeClaim & ApiObject;
      const usage = new Map([
        [claims, wholeQuantity(1)],
        [`count/${claims}`, wholeQuantity(1)],
      ]);
      const className = ownValue(claim.metadata.annotations, classAnnotation) ?? claim.spec.storageClassName ?? '';
      if (className !== '') usage.set(`${className}${ofClass}${claims}`, wholeQuantity(1));
      const size = sizeOf(claim);
      if (size === undefined) return usage;
      const { format } = quantityOf(size);
      const whole = { ...wholeQuantity(scaledQuantity(size, 0)), format };
      usage.set(storage, whole);
      if (className !== '') usage.set(`${className}${ofClass}${storage}`, whole);
      return usage;
    },

    mayRiseBy: (subresource, object, old) =>
      subresource === '' || (subresource === 'status' && !isDeepStrictEqual(countedStatus(object), countedStatus(old))),

    isInScope(object, requirement) {
      if (requirement.scopeName !== 'VolumeAttributesClass') return false;
      const { spec, status } = object as PersistentVolumeClaim & ApiObject;
      const classes = [
        spec.volumeAttributesClassName,
        status?.currentVolumeAttributesClassName,
        status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
      ];
      return matchesName(
        requirement,
        classes.filter((name): name is string => name !== undefined && name !== ''),
      );
    },
  };
}

/** The parts of a claim's status that affect its size and its scopes. */
function countedStatus({ status }: ApiObject): readonly unknown[] {
  const { allocatedResources, currentVolumeAttributesClassName, modifyVolumeStatus } = (status ?? {}) as NonNullable<
    PersistentVolumeClaim['status']
  >;
  return [
    allocatedResources?.storage,
    currentVolumeAttributesClassName,
    modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
}

/** The requested size, or a larger one that was allocated before the request was reduced. */
function sizeOf({ spec, status }: PersistentVolumeClaim): string | undefined {
  const asked = spec.resources?.requests?.storage;
  const allocated = status?.allocatedResources?.storage;
  return asked !== undefined && allocated !== undefined && compareQuantities(allocated, asked) > 0 ? allocated : asked;
}
