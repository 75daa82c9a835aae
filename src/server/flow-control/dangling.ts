import { formatTime } from '../../base/machinery/clock.js';
import type { FlowSchema, FlowSchemaCondition } from '../../objects/apis/flowcontrol/v1/flow-schema.types.js';

const type = 'Dangling';

/** The corrected `Dangling` condition of a schema; undefined if the schema already has it. */
export function changedDangling(
  { spec, status }: Pick<FlowSchema, 'spec' | 'status'>,
  isLevel: (name: string) => boolean,
  now: number,
): FlowSchemaCondition | undefined {
  const { name } = spec.priorityLevelConfiguration;
  const isFound = isLevel(name);
  const wanted = {
    status: isFound ? 'False' : 'True',
    reason: isFound ? 'Found' : 'NotFound',
    message: isFound
      ? `This FlowSchema references the PriorityLevelConfiguration object named "${name}" and it exists`
      : `This FlowSchema references the PriorityLevelConfiguration object named "${name}" but there is no such object`,
  } as const;
  const present = status?.conditions?.find((condition) => condition.type === type);
  const { status: was, reason, message } = present ?? {};
  if (was === wanted.status && reason === wanted.reason && message === wanted.message) return undefined;
  const since = present !== undefined && was === wanted.status ? present.lastTransitionTime : formatTime(now);
  return { type, ...wanted, lastTransitionTime: since } as FlowSchemaCondition;
}

/** The schema with this condition in its status. */
export function withDangling(schema: FlowSchema, condition: FlowSchemaCondition): FlowSchema {
  const others = (schema.status?.conditions ?? []).filter((other) => other.type !== type);
  return { ...schema, status: { ...schema.status, conditions: [...others, condition] } };
}
