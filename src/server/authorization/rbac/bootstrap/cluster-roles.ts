import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import { allow, change, manage, paths, type RoleData, read, writeEvents } from './role-data.js';

/**
 * The ClusterRoles of users and of cluster components. Clients and components rely on their names and rules. Component
 * names are the same for every vendor, because component certificates carry them.
 */
export function componentRoles(names: VendorNames): readonly RoleData[] {
  const certificates = groupName('certificates', names);
  return [
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
      rules: [
        allow('create', 'authorization', 'localsubjectaccessreviews'),
        allow(manage, 'rbac', 'rolebindings roles'),
      ],
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
      name: 'system:auth-delegator',
      rules: [
        allow('create', 'authentication', 'tokenreviews'),
        allow('create', 'authorization', 'subjectaccessreviews'),
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
      name: `system:${certificates}:certificatesigningrequests:nodeclient`,
      rules: [allow('create', 'certificates', 'certificatesigningrequests/nodeclient')],
    },
    {
      name: `system:${certificates}:certificatesigningrequests:selfnodeclient`,
      rules: [allow('create', 'certificates', 'certificatesigningrequests/selfnodeclient')],
    },
    {
      name: `system:${certificates}:kube-apiserver-client-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.apiserverClientSigner)],
    },
    {
      name: `system:${certificates}:kube-apiserver-client-kubelet-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.nodeClientSigner)],
    },
    {
      name: `system:${certificates}:kubelet-serving-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.nodeServingSigner)],
    },
    {
      name: `system:${certificates}:legacy-unknown-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.legacyUnknownSigner)],
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
      name: 'system:heapster',
      rules: [allow(read, 'core', 'events namespaces nodes pods'), allow(read, 'extensions', 'deployments')],
    },
    {
      name: 'system:kube-aggregator',
      rules: [allow(read, 'core', 'endpoints services')],
    },
    {
      name: 'system:kube-controller-manager',
      rules: [
        writeEvents,
        allow('create', 'coordination', 'leases'),
        allow('get update', 'coordination', 'leases', 'kube-controller-manager'),
        allow('create', 'core', 'secrets serviceaccounts'),
        allow('delete', 'core', 'secrets'),
        allow('get', 'core', 'configmaps namespaces secrets serviceaccounts'),
        allow('update', 'core', 'secrets serviceaccounts'),
        allow('create', 'authentication', 'tokenreviews'),
        allow('create', 'authorization', 'subjectaccessreviews'),
        allow('list watch', '*', '*'),
        allow('create', 'core', 'serviceaccounts/token'),
      ],
    },
    {
      name: 'system:kube-dns',
      rules: [allow('list watch', 'core', 'endpoints services')],
    },
    {
      name: 'system:kube-scheduler',
      rules: [
        writeEvents,
        allow('create', 'coordination', 'leases'),
        allow('get list update watch', 'coordination', 'leases', 'kube-scheduler'),
        allow(manage, 'coordination', 'leasecandidates'),
        allow(read, 'core', 'nodes'),
        allow('delete get list watch', 'core', 'pods'),
        allow('create', 'core', 'bindings pods/binding'),
        allow('patch update', 'core', 'pods/status'),
        allow(read, 'core', 'replicationcontrollers services'),
        allow(read, 'apps extensions', 'replicasets'),
        allow(read, 'apps', 'statefulsets'),
        allow(read, 'policy', 'poddisruptionbudgets'),
        allow(read, 'core', 'persistentvolumeclaims persistentvolumes'),
        allow('create', 'authentication', 'tokenreviews'),
        allow('create', 'authorization', 'subjectaccessreviews'),
        allow(read, 'storage', 'csinodes'),
        allow(read, 'storage', 'volumeattachments'),
        allow(read, 'core', 'namespaces'),
        allow(read, 'storage', 'csidrivers'),
        allow(read, 'storage', 'csistoragecapacities'),
        allow(read, 'resource', 'deviceclasses'),
        allow('get list patch update watch', 'resource', 'resourceclaims'),
        allow('get list patch update watch', 'resource', 'resourceclaims/status'),
        allow('update', 'core', 'pods/finalizers'),
        allow(read, 'resource', 'resourceslices'),
        allow('create delete', 'resource', 'resourceclaims'),
        allow(read, 'resource', 'devicetaintrules'),
        allow('patch update', 'resource', 'resourceclaims/binding'),
      ],
    },
    {
      name: 'system:kubelet-api-admin',
      rules: [
        allow(read, 'core', 'nodes'),
        allow('proxy', 'core', 'nodes'),
        allow('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/stats'),
        allow('*', 'core', 'nodes/configz nodes/healthz nodes/pods'),
      ],
    },
    {
      name: 'system:monitoring',
      rules: [
        paths('get', '/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz'),
        allow('get', 'core', 'nodes/metrics'),
      ],
    },
    {
      name: 'system:node',
      rules: [
        allow('create', 'authentication', 'tokenreviews'),
        allow('create', 'authorization', 'localsubjectaccessreviews subjectaccessreviews'),
        allow(read, 'core', 'services'),
        allow('create get list watch', 'core', 'nodes'),
        allow('patch update', 'core', 'nodes/status'),
        allow('patch update', 'core', 'nodes'),
        writeEvents,
        allow(read, 'core', 'pods'),
        allow('create delete', 'core', 'pods'),
        allow('patch update', 'core', 'pods/status'),
        allow('create', 'core', 'pods/eviction'),
        allow(read, 'core', 'configmaps secrets'),
        allow('get', 'core', 'persistentvolumeclaims persistentvolumes'),
        allow('get', 'core', 'endpoints'),
        allow('create get list watch', 'certificates', 'certificatesigningrequests'),
        allow('create delete get patch update', 'coordination', 'leases'),
        allow('get', 'storage', 'volumeattachments'),
        allow('create', 'core', 'serviceaccounts/token'),
        allow('get patch update', 'core', 'persistentvolumeclaims/status'),
        allow(read, 'storage', 'csidrivers'),
        allow('create delete get patch update', 'storage', 'csinodes'),
        allow(read, 'node', 'runtimeclasses'),
        allow('get', 'resource', 'resourceclaims'),
        allow('deletecollection', 'resource', 'resourceslices'),
        allow(read, 'certificates', 'clustertrustbundles'),
        allow('get', 'core', 'serviceaccounts'),
        allow('create get list watch', 'certificates', 'podcertificaterequests'),
      ],
    },
    {
      name: 'system:node-bootstrapper',
      rules: [allow('create get list watch', 'certificates', 'certificatesigningrequests')],
    },
    {
      name: 'system:node-problem-detector',
      rules: [allow('get', 'core', 'nodes'), allow('patch', 'core', 'nodes/status'), writeEvents],
    },
    {
      name: 'system:node-proxier',
      rules: [
        allow('list watch', 'core', 'endpoints services'),
        allow(read, 'core', 'nodes'),
        writeEvents,
        allow('list watch', 'networking', 'servicecidrs'),
        allow('list watch', 'discovery', 'endpointslices'),
      ],
    },
    {
      name: 'system:persistent-volume-provisioner',
      rules: [
        allow('create delete get list watch', 'core', 'persistentvolumes'),
        allow('get list update watch', 'core', 'persistentvolumeclaims'),
        allow(read, 'storage', 'storageclasses'),
        allow('watch', 'core', 'events'),
        writeEvents,
      ],
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
      name: 'system:volume-scheduler',
      rules: [
        allow('get list patch update watch', 'core', 'persistentvolumes'),
        allow(read, 'storage', 'storageclasses'),
        allow('get list patch update watch', 'core', 'persistentvolumeclaims'),
      ],
    },
    {
      name: 'view',
      aggregatesTo: 'edit',
      collects: 'view',
      rules: [],
    },
  ];
}
