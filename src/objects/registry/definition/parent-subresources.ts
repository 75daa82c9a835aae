import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import type { KindType } from '../../../base/machinery/schema/index.js';
import { conflictError, invalidError, modifiedMessage } from '../../../base/machinery/status-error.js';
import type { PartSubresource, ViewSubresource } from '../subresource-definition.js';
import type { TableColumn } from '../table-column.js';
import { ageColumn, nameColumn } from './default-columns.js';

/** Parts of the metadata that clients write. */
export const clientMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;
export type KeptMetadata = (typeof clientMetadata)[number];

/** Rules of a status subresource beyond keeping the spec. */
export interface StatusRules<T extends ApiObject> {
  /** The metadata that this path carries over. Default: none. */
  readonly keptMetadata?: readonly KeptMetadata[];
  /** Carries over further fields that this path may not change; may change `object`. */
  readonly keep?: (object: T, old: T) => void;
  readonly validate?: (object: T, old: T) => FieldError[];
}

/**
 * The `status` subresource of a kind. The spec is kept. Status and most of the metadata may change, because node agents
 * set labels and annotations of their node through this path.
 */
export function statusSubresource<T extends ApiObject>(rules: StatusRules<T> = {}): PartSubresource {
  const { keptMetadata = [] } = rules;
  const metadata = Object.fromEntries(keptMetadata.map((field) => [`f:${field}`, {}]));
  return {
    type: 'part',
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    prepareForUpdate: (_context, object, old) => {
      keepField(object, old, 'spec');
      keepMetadata(object, old, keptMetadata);
      rules.keep?.(object as T, old as T);
    },
    validateUpdate: (_context, object, old) => rules.validate?.(object as T, old as T) ?? [],
    resetFields: { 'f:spec': {}, ...(keptMetadata.length === 0 ? {} : { 'f:metadata': metadata }) },
  };
}

/** Restores parts of the metadata of the live object, or removes those that it does not have. */
export function keepMetadata({ metadata }: ApiObject, old: ApiObject, fields: readonly KeptMetadata[]): void {
  for (const field of fields) {
    if (old.metadata[field] === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: old.metadata[field] });
  }
}

/** Restores the value of the live object, or removes the field if the live object has none. */
export function keepField(object: ApiObject, old: ApiObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

/** Where a kind keeps the fields that its `scale` subresource shows. */
export interface ScaleRules<T extends ApiObject> {
  /** Whether the rules of the parent refuse a negative number; default: the subresource does. */
  readonly isCheckedByParent?: boolean;
  /** Declaration of the Scale kind. */
  readonly type: KindType;
  readonly replicas: (parent: T) => number;
  /** Sets the number of replicas. Changes `parent`. */
  readonly setReplicas: (parent: T, replicas: number) => void;
  readonly currentReplicas: (parent: T) => number;
  /** The selector of the scaled pods as a string. */
  readonly selector: (parent: T) => string;
}

const replicasPath = FieldPath.of('spec', 'replicas');

const scaleColumns: readonly TableColumn[] = [
  { ...nameColumn, format: '' },
  {
    name: 'Desired',
    type: 'integer',
    description: 'Wanted number of pods.',
    cell: ({ spec }) => (spec as { replicas?: number } | undefined)?.replicas ?? 0,
  },
  {
    name: 'Available',
    type: 'integer',
    description: 'Number of pods that there are.',
    cell: ({ status }) => (status as { replicas?: number } | undefined)?.replicas ?? 0,
  },
  ageColumn,
];

/** The `scale` subresource of a kind: a Scale that shows and sets the number of replicas. */
export function scaleSubresource<T extends ApiObject>(rules: ScaleRules<T>): ViewSubresource {
  const { group, version, kind } = rules.type.kind;
  return {
    type: 'view',
    name: 'scale',
    body: { kind: { group, version, kind }, type: rules.type },
    verbs: ['get', 'patch', 'update'],
    columns: scaleColumns,
    read: (parent) => {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
      const replicas = rules.replicas(parent as T);
      const selector = rules.selector(parent as T);
      return {
        kind,
        apiVersion: `${group}/${version}`,
        metadata: {
          name,
          namespace,
          uid,
          resourceVersion,
          ...(creationTimestamp ? { creationTimestamp } : {}),
        } as ApiObject['metadata'],
        spec: replicas === 0 ? {} : { replicas },
        status: { replicas: rules.currentReplicas(parent as T), ...(selector === '' ? {} : { selector }) },
      };
    },
    write: (_context, parent, body) => {
      const { uid } = body.metadata;
      const name = parent.metadata.name ?? '';
      if (uid && uid !== parent.metadata.uid) throw conflictError({ group, resource: kind }, name, modifiedMessage);
      const replicas = (body.spec as { replicas?: number } | undefined)?.replicas ?? 0;
      if (replicas < 0 && rules.isCheckedByParent !== true) {
        const error = invalid(replicasPath, replicas, 'must be greater than or equal to 0');
        throw invalidError({ group, kind }, name, [error]);
      }
      rules.setReplicas(parent as T, replicas);
      return parent;
    },
    intent: ({ spec }) => {
      const { replicas } = (spec ?? {}) as { replicas?: unknown };
      if (typeof replicas !== 'number') return {};
      const fields = { spec: {} };
      rules.setReplicas(fields as unknown as T, replicas);
      return fields;
    },
  };
}
