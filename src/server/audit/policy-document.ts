import { FieldPath } from '../../base/machinery/field-error.js';
import {
  type AuditLevel,
  AuditPolicy,
  type AuditPolicyRule,
  type AuditStage,
  auditLevels,
  auditStages,
} from './audit-policy.js';
import { AuditPolicyError } from './audit-policy-error.js';

type Entry = Readonly<Record<string, unknown>>;

const rootFields = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'];
const ruleFields = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
];
const groupFields = ['group', 'resources', 'resourceNames'];

/**
 * Reads a document of kind `Policy`. Unknown fields are a problem: because of a misspelled field, less would be
 * recorded than the author expects.
 *
 * @param apiVersion the accepted version
 * @throws AuditPolicyError with all problems at once.
 */
export function readPolicy(document: unknown, apiVersion: string): AuditPolicy {
  const reader = new PolicyReader();
  const policy = reader.read(document, apiVersion);
  if (reader.problems.length > 0) throw new AuditPolicyError(reader.problems);
  return policy;
}

class PolicyReader {
  readonly problems: string[] = [];

  read(document: unknown, apiVersion: string): AuditPolicy {
    if (!isEntry(document)) {
      this.problems.push('must be an object');
      return new AuditPolicy([]);
    }
    if (document.kind !== 'Policy') this.report('kind', 'must be Policy');
    if (document.apiVersion !== apiVersion) this.report('apiVersion', `must be ${apiVersion}`);
    if (document.metadata !== undefined && !isEntry(document.metadata)) this.report('metadata', 'must be an object');
    this.refuseOthers(document, rootFields, undefined);
    const omitted = this.stages(document.omitStages, FieldPath.of('omitStages'));
    const omitsFields = this.flag(document.omitManagedFields, FieldPath.of('omitManagedFields')) ?? false;
    const path = FieldPath.of('rules');
    const rules = this.entries(document.rules, path);
    if (Array.isArray(document.rules ?? []) && rules.length === 0) this.report(path, 'needs at least one rule');
    return new AuditPolicy(rules.map(([rule, at]) => this.rule(rule, at, omitted, omitsFields)));
  }

  private rule(rule: Entry, path: FieldPath, omitted: readonly AuditStage[], omitsFields: boolean): AuditPolicyRule {
    this.refuseOthers(rule, ruleFields, path);
    const level = this.level(rule.level, path.child('level'));
    const resources = this.entries(rule.resources, path.child('resources')).map(([entry, at]) => this.group(entry, at));
    const namespaces = this.strings(rule.namespaces, path.child('namespaces'));
    const nonResourceURLs = this.strings(rule.nonResourceURLs, path.child('nonResourceURLs'));
    if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
      const both = 'a rule is about resources (resources, namespaces) or about other paths, not about both';
      this.report(path.child('nonResourceURLs'), both);
    }
    for (const [index, url] of nonResourceURLs.entries()) this.url(url, path.child('nonResourceURLs').index(index));
    const stages = this.stages(rule.omitStages, path.child('omitStages'));
    return {
      level,
      users: this.strings(rule.users, path.child('users')),
      userGroups: this.strings(rule.userGroups, path.child('userGroups')),
      verbs: this.strings(rule.verbs, path.child('verbs')),
      resources,
      namespaces,
      nonResourceURLs,
      omitStages: new Set([...omitted, ...stages]),
      omitManagedFields: this.flag(rule.omitManagedFields, path.child('omitManagedFields')) ?? omitsFields,
    };
  }

  private group(entry: Entry, path: FieldPath): AuditPolicyRule['resources'][number] {
    this.refuseOthers(entry, groupFields, path);
    const { group = '' } = entry;
    const isName = typeof group === 'string' && (group === '' || /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(group));
    if (!isName)
      this.report(path.child('group'), 'must be the name of an API group, without a version; "" is the core group');
    const resources = this.strings(entry.resources, path.child('resources'));
    for (const [index, resource] of resources.entries()) {
      if (/^(?:\*|[^*/\s]+)(?:\/(?:\*|[^*/\s]+))?$/.test(resource) && resource !== '*/*') continue;
      const forms = 'must be of the form pods, pods/log, pods/*, */status or *';
      this.report(path.child('resources').index(index), forms);
    }
    const resourceNames = this.strings(entry.resourceNames, path.child('resourceNames'));
    if (resourceNames.length > 0 && resources.length === 0) {
      this.report(path.child('resourceNames'), 'needs resources as well');
    }
    return { group: isName ? group : '', resources, resourceNames };
  }

  private url(url: string, path: FieldPath): void {
    if (url === '*') return;
    if (!url.startsWith('/')) this.report(path, 'must be * or begin with /');
    const star = url.indexOf('*');
    if (star >= 0 && star !== url.length - 1) this.report(path, 'may have * at its end only');
  }

  private level(value: unknown, path: FieldPath): AuditLevel {
    const level = auditLevels.find((known) => known === value);
    if (level === undefined) this.report(path, `must be one of ${auditLevels.join(', ')}`);
    return level ?? 'None';
  }

  private stages(value: unknown, path: FieldPath): readonly AuditStage[] {
    return this.strings(value, path).flatMap((text, index) => {
      const stage = auditStages.find((known) => known === text);
      if (stage === undefined) this.report(path.index(index), `must be one of ${auditStages.join(', ')}`);
      return stage === undefined ? [] : [stage];
    });
  }

  private strings(value: unknown, path: FieldPath): readonly string[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.report(path, 'must be a list of strings');
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      if (typeof item === 'string') return [item];
      this.report(path.index(index), 'must be a string');
      return [];
    });
  }

  private entries(value: unknown, path: FieldPath): readonly (readonly [Entry, FieldPath])[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.report(path, 'must be a list');
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      if (isEntry(item)) return [[item, path.index(index)] as const];
      this.report(path.index(index), 'must be an object');
      return [];
    });
  }

  private flag(value: unknown, path: FieldPath): boolean | undefined {
    if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
    this.report(path, 'must be true or false');
    return undefined;
  }

  private refuseOthers(entry: Entry, known: readonly string[], path: FieldPath | undefined): void {
    for (const key of Object.keys(entry)) {
      if (!known.includes(key)) this.report(path?.child(key) ?? key, 'unknown field');
    }
  }

  private report(path: FieldPath | string, problem: string): void {
    this.problems.push(`${String(path)}: ${problem}`);
  }
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
