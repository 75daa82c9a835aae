import { allow, change, manage, paths, type RoleData, read } from './role-data.js';

/** The ClusterRoles of users and of accounts: those that a cluster's owner binds, and what everybody may read. */
export const userRoles: readonly RoleData[] = [
  {
    name: 'admin',
    collects: 'admin',
    rules: [],
  },
  {
    name: 'cluster-admin',
    rules: [allow('*', '*', '*'), paths('*', '*')],
  },
  {
    name: 'edit',
    aggregatesTo: 'admin',
    collects: 'edit',
    rules: [],
  },
  {
    name: 'system:aggregate-to-admin',
    aggregatesTo: 'admin',
    rules: [allow('create', 'authorization', 'localsubjectaccessreviews'), allow(manage, 'rbac', 'rolebindings roles')],
  },
  {
    name: 'system:aggregate-to-edit',
    aggregatesTo: 'edit',
    rules: [
      allow(read, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      allow('impersonate', 'core', 'serviceaccounts'),
      allow(change, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      allow('create', 'core', 'pods/eviction'),
      allow(
        change,
        'core',
        'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
      ),
      allow('create', 'core', 'serviceaccounts/token'),
      allow(change, 'core events', 'events'),
      allow(
        change,
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      ),
      allow(change, 'autoscaling', 'horizontalpodautoscalers'),
      allow(change, 'batch', 'cronjobs jobs'),
      allow(
        change,
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      ),
      allow(change, 'policy', 'poddisruptionbudgets'),
      allow(change, 'networking', 'ingresses networkpolicies'),
      allow(manage, 'coordination', 'leases'),
      allow(change, 'resource', 'resourceclaims resourceclaimtemplates'),
    ],
  },
  {
    name: 'system:aggregate-to-view',
    aggregatesTo: 'view',
    rules: [
      allow(
        read,
        'core',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      ),
      allow(
        read,
        'core',
        'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
      ),
      allow(read, 'core', 'namespaces'),
      allow(read, 'core events', 'events'),
      allow(read, 'discovery', 'endpointslices'),
      allow(
        read,
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ),
      allow(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      allow(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      allow(
        read,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      ),
      allow(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      allow(read, 'networking', 'ingresses ingresses/status networkpolicies'),
      allow(read, 'resource', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
    ],
  },
  {
    name: 'system:basic-user',
    rules: [
      allow('create', 'authorization', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      allow('create', 'authentication', 'selfsubjectreviews'),
    ],
  },
  {
    name: 'system:cluster-trust-bundle-discovery',
    rules: [allow(read, 'certificates', 'clustertrustbundles')],
  },
  {
    name: 'system:discovery',
    rules: [paths('get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/')],
  },
  {
    name: 'system:public-info-viewer',
    rules: [paths('get', '/healthz /livez /readyz /version /version/')],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      paths(
        'get',
        '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
      ),
    ],
  },
  {
    name: 'view',
    aggregatesTo: 'edit',
    collects: 'view',
    rules: [],
  },
];
