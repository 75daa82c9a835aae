import {
  bool,
  enumOf,
  type Infer,
  int64,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const capabilities = struct('core.v1.Capabilities', {
  add: optional(1, list(string), { doc: 'Capabilities to add.' }),
  drop: optional(2, list(string), { doc: 'Capabilities to take away.' }),
});
export type Capabilities = Infer<typeof capabilities>;

export const seLinuxOptions = struct('core.v1.SELinuxOptions', {
  user: optional(1, string),
  role: optional(2, string),
  type: optional(3, string),
  level: optional(4, string),
});
export type SELinuxOptions = Infer<typeof seLinuxOptions>;

export const windowsSecurityContextOptions = struct('core.v1.WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: pointer(1, string),
  gmsaCredentialSpec: pointer(2, string),
  runAsUserName: pointer(3, string),
  hostProcess: pointer(4, bool),
});
export type WindowsSecurityContextOptions = Infer<typeof windowsSecurityContextOptions>;

export const procMountType = enumOf('Default', 'Unmasked');
export type ProcMountType = Infer<typeof procMountType>;

export const seccompProfileType = enumOf('Localhost', 'RuntimeDefault', 'Unconfined');
export type SeccompProfileType = Infer<typeof seccompProfileType>;

export const seccompProfile = struct('core.v1.SeccompProfile', {
  type: required(1, seccompProfileType),
  localhostProfile: pointer(2, string, { doc: 'Path of a profile on the node.' }),
});
export type SeccompProfile = Infer<typeof seccompProfile>;

export const appArmorProfileType = enumOf('Localhost', 'RuntimeDefault', 'Unconfined');
export type AppArmorProfileType = Infer<typeof appArmorProfileType>;

export const appArmorProfile = struct('core.v1.AppArmorProfile', {
  type: required(1, appArmorProfileType),
  localhostProfile: pointer(2, string, { doc: 'Path of a profile on the node.' }),
});
export type AppArmorProfile = Infer<typeof appArmorProfile>;

export const securityContext = struct(
  'core.v1.SecurityContext',
  {
    capabilities: pointer(1, capabilities, { doc: 'Linux capabilities to add and drop.' }),
    privileged: pointer(2, bool, { doc: 'All privileges of the node.' }),
    seLinuxOptions: pointer(3, seLinuxOptions, { doc: 'SELinux label.' }),
    windowsOptions: pointer(10, windowsSecurityContextOptions, { doc: 'Settings for Windows only.' }),
    runAsUser: pointer(4, int64, { doc: 'Numeric user that processes run as.' }),
    runAsGroup: pointer(8, int64, { doc: 'Numeric primary group that processes run as.' }),
    runAsNonRoot: pointer(5, bool, { doc: 'Refuses to start as user 0.' }),
    readOnlyRootFilesystem: pointer(6, bool, { doc: "Forbid writing to the image's files." }),
    allowPrivilegeEscalation: pointer(7, bool, { doc: 'Whether a process may gain more privileges than its parent.' }),
    procMount: pointer(9, procMountType, { doc: 'Which /proc is mounted.' }),
    seccompProfile: pointer(11, seccompProfile, { doc: 'Filter for system calls.' }),
    appArmorProfile: pointer(12, appArmorProfile, { doc: 'AppArmor profile.' }),
  },
  { doc: 'Privileges of a container.' },
);
export type SecurityContext = Infer<typeof securityContext>;

export const supplementalGroupsPolicy = enumOf('Merge', 'Strict');
export type SupplementalGroupsPolicy = Infer<typeof supplementalGroupsPolicy>;

export const sysctl = struct('core.v1.Sysctl', {
  name: required(1, string),
  value: required(2, string),
});
export type Sysctl = Infer<typeof sysctl>;

export const podFSGroupChangePolicy = enumOf('Always', 'OnRootMismatch');
export type PodFSGroupChangePolicy = Infer<typeof podFSGroupChangePolicy>;

export const podSELinuxChangePolicy = enumOf('MountOption', 'Recursive');
export type PodSELinuxChangePolicy = Infer<typeof podSELinuxChangePolicy>;

export const podSecurityContext = struct(
  'core.v1.PodSecurityContext',
  {
    seLinuxOptions: pointer(1, seLinuxOptions, { doc: 'SELinux label.' }),
    windowsOptions: pointer(8, windowsSecurityContextOptions, { doc: 'Settings for Windows only.' }),
    runAsUser: pointer(2, int64, { doc: 'Numeric user that processes run as.' }),
    runAsGroup: pointer(6, int64, { doc: 'Numeric primary group that processes run as.' }),
    runAsNonRoot: pointer(3, bool, { doc: 'Refuses to start as user 0.' }),
    supplementalGroups: optional(4, list(int64), { doc: 'Additional groups of the processes.' }),
    supplementalGroupsPolicy: pointer(12, supplementalGroupsPolicy),
    fsGroup: pointer(5, int64, { doc: 'Group that volumes belong to.' }),
    sysctls: optional(7, list(sysctl), { doc: 'Kernel parameters to set.' }),
    fsGroupChangePolicy: pointer(9, podFSGroupChangePolicy, { doc: 'When the group of files is changed.' }),
    seccompProfile: pointer(10, seccompProfile, { doc: 'Filter for system calls.' }),
    appArmorProfile: pointer(11, appArmorProfile, { doc: 'AppArmor profile.' }),
    seLinuxChangePolicy: pointer(13, podSELinuxChangePolicy),
  },
  { doc: 'Privileges of all containers of a pod.' },
);
export type PodSecurityContext = Infer<typeof podSecurityContext>;
