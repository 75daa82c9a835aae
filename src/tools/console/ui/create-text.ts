import { signal } from '@preact/signals';
import { apiVersionOf, type Kind } from './kinds.js';
import type { Route } from './routes.js';

export const createRoute: Route = { page: 'create' };

/** What has been typed into the page that creates objects. */
export const createText = signal('');

/** What most objects of a kind need, to begin with. */
const beginnings: Readonly<Record<string, string>> = {
  configmaps: 'data:\n  key: value\n',
  secrets: 'stringData:\n  password: ""\n',
  pods: 'spec:\n  containers:\n  - name: main\n    image: ""\n',
  deployments: `spec:
  replicas: 1
  selector:
    matchLabels: {app: new}
  template:
    metadata:
      labels: {app: new}
    spec:
      containers:
      - name: main
        image: ""
`,
  services: 'spec:\n  selector: {app: new}\n  ports:\n  - port: 80\n    targetPort: 8080\n',
};

/** A text that creates an object of a kind once its gaps are filled. */
export function templateOf(kind: Kind, namespace: string): string {
  const scope = kind.namespaced ? `  namespace: ${namespace || 'default'}\n` : '';
  const rest = Object.hasOwn(beginnings, kind.resource) ? beginnings[kind.resource] : 'spec: {}\n';
  const needsSpec = kind.resource !== 'namespaces' && kind.resource !== 'serviceaccounts';
  return `apiVersion: ${apiVersionOf(kind)}\nkind: ${kind.kind}\nmetadata:\n  name: new\n${scope}${needsSpec ? rest : ''}`;
}
