import { isStoredKind, type ResourceDefinition } from '../../src/objects/registry/resource-definition.js';

/** Kinds that the check does not write, each with the reason; clients read what there is of them all the same. */
export const unwritten: Readonly<Record<string, string>> = {
  customresourcedefinitions: 'their names are made of what they define; the check has four of its own',
  apiservices: 'their names are made of what they serve, and one without a server makes discovery fail for clients',
};

/** The kinds whose objects the check writes, of all that are stored. */
export function writtenKinds(definitions: readonly ResourceDefinition[]): ResourceDefinition[] {
  return definitions.filter((definition) => isStoredKind(definition) && unwritten[definition.resource] === undefined);
}

const rules = [{ operations: ['CREATE'], apiGroups: ['nobody.example'], apiVersions: ['v1'], resources: ['none'] }];

/** Takes from an object what would change how the server answers others: hooks and policies match nothing. */
export function tamed({ resource }: ResourceDefinition, object: Record<string, unknown>): void {
  if (/webhookconfigurations$/.test(resource)) {
    for (const webhook of listOf(object.webhooks)) if (isObject(webhook)) webhook.rules = rules;
  }
  const { spec } = object;
  if (/admissionpolicies$/.test(resource) && isObject(spec)) spec.matchConstraints = { resourceRules: rules };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
