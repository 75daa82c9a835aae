/** One hostile request, and the state that it needs. */
export interface HostileCase {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: () => string | Buffer;
  /** The sender; default: alice, who may do everything. */
  readonly sender?: 'alice' | 'bob';
  /** Requests that are sent first and not measured. */
  readonly before?: HostileRequest | readonly HostileRequest[];
}

/** One request of a case. */
export type HostileRequest = Omit<HostileCase, 'name' | 'before'>;

/** Just below the limit of 3 MiB; smaller ones meet other limits. */
export const most = Number(process.env.HOSTILE_BYTES ?? 3_000_000);

const namespace = '/api/v1/namespaces/default';

export const paths = {
  configMaps: `${namespace}/configmaps`,
  secrets: `${namespace}/secrets`,
  pods: `${namespace}/pods`,
  services: `${namespace}/services`,
  endpoints: `${namespace}/endpoints`,
  accounts: `${namespace}/serviceaccounts`,
  slices: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
  deployments: '/apis/apps/v1/namespaces/default/deployments',
  roles: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  clusterRoles: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  clusterBindings: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  budgets: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  rulesReviews: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
  bindings: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
  policies: '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
  requests: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  reviews: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  tokenReviews: '/apis/authentication.k8s.io/v1/tokenreviews',
  webhooks: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
} as const;

/** As many elements as fit into `bytes`, joined by commas. */
export function many(element: (i: number) => string, bytes = most - 1000): string {
  const parts: string[] = [];
  for (let i = 0, length = 0; ; i++) {
    const part = element(i);
    length += part.length + 1;
    if (length > bytes) return parts.join(',');
    parts.push(part);
  }
}

/** The same, with an upper bound on their number. */
export function atMost(count: number, element: (i: number) => string, bytes = most - 1000): string {
  const parts: string[] = [];
  for (let i = 0, length = 0; i < count; i++) {
    const part = element(i);
    length += part.length + 1;
    if (length > bytes) break;
    parts.push(part);
  }
  return parts.join(',');
}

export function configMap(name: string, metadata = '', rest = ''): string {
  return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"${metadata}}${rest}}`;
}

export function pod(name: string, spec = '', container = '', metadata = ''): string {
  return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"${name}"${metadata}},"spec":{"containers":[{"name":"c","image":"i"${container}}]${spec}}}`;
}

export function service(name: string, spec: string): string {
  return `{"kind":"Service","apiVersion":"v1","metadata":{"name":"${name}"},"spec":{${spec}}}`;
}

export function role(name: string, rules: string): string {
  return `{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"${name}"},"rules":[${rules}]}`;
}

export function create(
  name: string,
  path: string,
  body: () => string | Buffer,
  contentType = 'application/json',
): HostileCase {
  return { name, method: 'POST', path, contentType, body };
}
