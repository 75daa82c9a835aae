import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { allow, type RoleData, read, writeEvents } from './role-data.js';

/** A Role of the default policy, with its subjects. */
export interface NamespacedRole extends RoleData {
  readonly namespace: string;
  /** Defaults to the name of the role. */
  readonly bindingName?: string;
  /** `user <name>`, `group <name>`, or `account <name>` for a service account in the system's namespace. */
  readonly subjects: readonly string[];
}

const controllerManager = 'kube-controller-manager';
const scheduler = 'kube-scheduler';

/** The Roles in the system's namespace and in the public namespace. */
export function namespacedRoles(names: VendorNames): readonly NamespacedRole[] {
  const { systemNamespace, publicNamespace } = names;
  const leaderLock = (component: string, ...others: string[]): NamespacedRole => ({
    namespace: systemNamespace,
    name: `system::leader-locking-${component}`,
    rules: ['leases', 'leasecandidates'].map((lock) => allow('create get list update watch', 'coordination', lock)),
    subjects: [`user system:${component}`, `account ${component}`, ...others],
  });
  return [
    {
      namespace: publicNamespace,
      name: 'system:controller:bootstrap-signer',
      rules: [allow(read, 'core', 'configmaps'), allow('update', 'core', 'configmaps', 'cluster-info'), writeEvents],
      subjects: ['account bootstrap-signer'],
    },
    {
      namespace: systemNamespace,
      name: 'extension-apiserver-authentication-reader',
      bindingName: 'system::extension-apiserver-authentication-reader',
      rules: [allow(read, 'core', 'configmaps', 'extension-apiserver-authentication')],
      subjects: [`user system:${controllerManager}`, `user system:${scheduler}`],
    },
    leaderLock(controllerManager, 'account leader-election-controller'),
    leaderLock(scheduler),
    {
      namespace: systemNamespace,
      name: 'system:controller:bootstrap-signer',
      rules: [allow(read, 'core', 'secrets')],
      subjects: ['account bootstrap-signer'],
    },
    {
      namespace: systemNamespace,
      name: 'system:controller:cloud-provider',
      rules: [allow('create get list watch', 'core', 'configmaps')],
      subjects: ['account cloud-provider'],
    },
    {
      namespace: systemNamespace,
      name: 'system:controller:token-cleaner',
      rules: [allow('delete get list watch', 'core', 'secrets'), writeEvents],
      subjects: ['account token-cleaner'],
    },
  ];
}
