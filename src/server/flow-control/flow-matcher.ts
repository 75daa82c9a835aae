import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../objects/apis/flowcontrol/v1/flow-schema.types.js';

/** Whether a request belongs to a schema. */
export type FlowMatcher = (user: UserInfo, request: RequestInfo) => boolean;

const all = '*';
const accountPrefix = 'system:serviceaccount:';

/** The request matcher of a schema: one of its rules applies to one of its subjects. */
export function matcherOf({ spec }: Pick<FlowSchema, 'spec'>): FlowMatcher {
  const rules = (spec.rules ?? []).map(ruleMatcher);
  return (user, request) => rules.some((matches) => matches(user, request));
}

function ruleMatcher({ subjects, resourceRules, nonResourceRules }: PolicyRulesWithSubjects): FlowMatcher {
  const isSubject = (subjects ?? []).map(subjectMatcher);
  const resources = (resourceRules ?? []).map(resourceMatcher);
  const paths = (nonResourceRules ?? []).map(pathMatcher);
  return (user, request) => {
    if (!isSubject.some((matches) => matches(user))) return false;
    const rules = request.isResourceRequest ? resources : paths;
    return rules.some((matches) => matches(request));
  };
}

function subjectMatcher({ kind, user, group, serviceAccount }: Subject): (user: UserInfo) => boolean {
  switch (kind) {
    case 'User': {
      const name = user?.name;
      return name === all ? () => true : (sender) => sender.name === name;
    }
    case 'Group': {
      const name = group?.name ?? '';
      return name === all ? () => true : ({ groups }) => groups.includes(name);
    }
    case 'ServiceAccount': {
      const { namespace = '', name = '' } = serviceAccount ?? {};
      const prefix = `${accountPrefix}${namespace}:`;
      if (name === all) return (sender) => sender.name.startsWith(prefix);
      const full = `${prefix}${name}`;
      return (sender) => sender.name === full;
    }
    default:
      return () => false;
  }
}

/** Whether a list contains the value, or the wildcard. */
function contains(values: readonly string[] | null | undefined): (value: string) => boolean {
  const list = values ?? [];
  return list.includes(all) ? () => true : (value) => list.includes(value);
}

function resourceMatcher(rule: ResourcePolicyRule): (request: RequestInfo) => boolean {
  const verbs = contains(rule.verbs);
  const groups = contains(rule.apiGroups);
  const resources = contains(rule.resources);
  const namespaces = contains(rule.namespaces);
  const clusterScope = rule.clusterScope === true;
  return ({ verb, apiGroup, resource, subresource, namespace }) =>
    verbs(verb) &&
    groups(apiGroup) &&
    resources(subresource === '' ? resource : `${resource}/${subresource}`) &&
    (namespace === '' ? clusterScope : namespaces(namespace));
}

function pathMatcher(rule: NonResourcePolicyRule): (request: RequestInfo) => boolean {
  const verbs = contains(rule.verbs);
  const paths = (rule.nonResourceURLs ?? []).map((url): ((path: string) => boolean) => {
    if (url === all) return () => true;
    if (!url.endsWith(all)) return (path) => path === url;
    const prefix = url.slice(0, -1);
    return (path) => path.startsWith(prefix);
  });
  return ({ verb, path }) => verbs(verb) && paths.some((matches) => matches(path));
}
