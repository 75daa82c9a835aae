import { allow, type RuleData, read, writeEvents } from './role-data.js';

/** The rules of the controllers of nodes and of their devices. */
export const nodeControllerRules: Readonly<Record<string, readonly RuleData[]>> = {
  'device-taint-eviction-controller': [
    allow('delete get list watch', 'core', 'pods'),
    allow('patch update', 'core', 'pods/status'),
    allow(read, 'resource', 'resourceclaims'),
    allow(read, 'resource', 'resourceslices'),
    allow(read, 'resource', 'deviceclasses'),
    writeEvents,
    allow('patch update', 'resource', 'devicetaintrules/status'),
    allow(read, 'resource', 'devicetaintrules'),
  ],
  'node-controller': [
    allow('delete get list patch update watch', 'core', 'nodes'),
    allow('patch update', 'core', 'nodes/status'),
    allow('patch update', 'core', 'pods/status'),
    allow('delete get list watch', 'core', 'pods'),
    allow(read, 'coordination', 'leases'),
    writeEvents,
  ],
  'resource-claim-controller': [
    allow(read, 'core', 'pods'),
    allow('update', 'core', 'pods/finalizers'),
    allow('create delete get list watch', 'resource', 'resourceclaims'),
    allow('patch update', 'resource', 'resourceclaims resourceclaims/status'),
    allow('patch update', 'core', 'pods/status'),
    writeEvents,
    allow('patch update', 'resource', 'resourceclaims/binding'),
  ],
  'route-controller': [allow('list watch', 'core', 'nodes'), allow('patch', 'core', 'nodes/status'), writeEvents],
  'ttl-controller': [allow('list patch update watch', 'core', 'nodes'), writeEvents],
};
