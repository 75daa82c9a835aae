import { allow, type RuleData, read, writeEvents } from './role-data.js';

/** The rules of the controllers of volumes. */
export const volumeControllerRules: Readonly<Record<string, readonly RuleData[]>> = {
  'attachdetach-controller': [
    allow('list watch', 'core', 'persistentvolumeclaims persistentvolumes'),
    allow(read, 'core', 'nodes'),
    allow('patch update', 'core', 'nodes/status'),
    allow('list watch', 'core', 'pods'),
    writeEvents,
    allow('create delete get list watch', 'storage', 'volumeattachments'),
    allow(read, 'storage', 'csidrivers'),
    allow(read, 'storage', 'csinodes'),
  ],
  'ephemeral-volume-controller': [
    allow(read, 'core', 'pods'),
    allow('update', 'core', 'pods/finalizers'),
    allow('create get list watch', 'core', 'persistentvolumeclaims'),
    writeEvents,
  ],
  'expand-controller': [
    allow('get list patch update watch', 'core', 'persistentvolumes'),
    allow('patch update', 'core', 'persistentvolumeclaims/status'),
    allow(read, 'core', 'persistentvolumeclaims'),
    writeEvents,
  ],
  'persistent-volume-binder': [
    allow('create delete get list update watch', 'core', 'persistentvolumes'),
    allow('update', 'core', 'persistentvolumes/status'),
    allow('get list update watch', 'core', 'persistentvolumeclaims'),
    allow('update', 'core', 'persistentvolumeclaims/status'),
    allow('create delete get list watch', 'core', 'pods'),
    allow(read, 'storage', 'storageclasses'),
    allow('list watch', 'core', 'nodes'),
    writeEvents,
    allow('watch', 'core', 'events'),
  ],
  'pv-protection-controller': [allow('get list update watch', 'core', 'persistentvolumes'), writeEvents],
  'pvc-protection-controller': [
    allow('get list update watch', 'core', 'persistentvolumeclaims'),
    allow('update', 'core', 'persistentvolumeclaims/status'),
    allow(read, 'core', 'pods'),
    writeEvents,
  ],
  'selinux-warning-controller': [
    writeEvents,
    allow(read, 'core', 'persistentvolumes'),
    allow(read, 'core', 'persistentvolumeclaims'),
    allow(read, 'core', 'pods'),
    allow(read, 'storage', 'csidrivers'),
  ],
  'volumeattributesclass-protection-controller': [
    allow(read, 'core', 'persistentvolumeclaims'),
    allow(read, 'core', 'persistentvolumes'),
    allow('get list update watch', 'storage', 'volumeattributesclasses'),
    writeEvents,
  ],
};
