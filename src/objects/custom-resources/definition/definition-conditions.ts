import { formatTime } from '../../../base/machinery/clock.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '../../apis/apiextensions/v1/custom-resource-definition.types.js';

/** The types of the conditions of a definition. */
export type ConditionType = CustomResourceDefinitionCondition['type'];

/** One condition as a control loop or the server reports it; its transition time follows from it. */
export type ConditionUpdate = Pick<CustomResourceDefinitionCondition, 'type' | 'status'> & {
  readonly reason: string;
  readonly message: string;
};

/** The condition of a type; undefined when nobody has reported it yet. */
export function findCondition(
  status: CustomResourceDefinitionStatus,
  type: ConditionType,
): CustomResourceDefinitionCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

/** Whether a condition exists and is true. */
export function isConditionTrue({ status }: CustomResourceDefinition, type: ConditionType): boolean {
  return findCondition(status, type)?.status === 'True';
}

/**
 * Sets a condition; `lastTransitionTime` moves only with its status. Changes `status`; returns whether anything but
 * that time changed.
 *
 * @param now milliseconds since the epoch
 */
export function setCondition(status: CustomResourceDefinitionStatus, update: ConditionUpdate, now: number): boolean {
  const before = findCondition(status, update.type);
  if (before === undefined) {
    const { type, status: value, reason, message } = update;
    const added = { type, status: value, lastTransitionTime: formatTime(now), reason, message };
    status.conditions = [...(status.conditions ?? []), added];
    return true;
  }
  const { reason, message } = before;
  if (before.status === update.status && reason === update.reason && message === update.message) return false;
  const isTurned = before.status !== update.status || before.lastTransitionTime === null;
  const changed = {
    ...before,
    ...update,
    lastTransitionTime: isTurned ? formatTime(now) : before.lastTransitionTime,
  };
  status.conditions = (status.conditions ?? []).map((condition) => (condition === before ? changed : condition));
  return true;
}

/** Removes a condition. Changes `status`; returns whether it was there. */
export function removeCondition(status: CustomResourceDefinitionStatus, type: ConditionType): boolean {
  if (findCondition(status, type) === undefined) return false;
  status.conditions = (status.conditions ?? []).filter((condition) => condition.type !== type);
  return true;
}
