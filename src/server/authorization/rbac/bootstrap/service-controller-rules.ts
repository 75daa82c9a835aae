import { allow, type RuleData, read, writeEvents } from './role-data.js';

/** The rules of the controllers of services. */
export const serviceControllerRules: Readonly<Record<string, readonly RuleData[]>> = {
  'endpoint-controller': [
    allow(read, 'core', 'pods services'),
    allow('create delete get list update watch', 'core', 'endpoints'),
    allow('create', 'core', 'endpoints/restricted'),
    writeEvents,
  ],
  'endpointslice-controller': [
    allow(read, 'core', 'nodes pods services'),
    allow('update', 'core', 'services/finalizers'),
    allow('create delete get list update watch', 'discovery', 'endpointslices'),
    writeEvents,
  ],
  'endpointslicemirroring-controller': [
    allow(read, 'core', 'endpoints services'),
    allow('update', 'core', 'services/finalizers'),
    allow('update', 'core', 'endpoints/finalizers'),
    allow('create delete get list update watch', 'discovery', 'endpointslices'),
    writeEvents,
  ],
  'service-cidrs-controller': [
    allow('get list patch update watch', 'networking', 'servicecidrs'),
    allow('patch update', 'networking', 'servicecidrs/finalizers'),
    allow('patch update', 'networking', 'servicecidrs/status'),
    allow(read, 'networking', 'ipaddresses'),
    writeEvents,
  ],
  'service-controller': [
    allow(read, 'core', 'services'),
    allow('patch update', 'core', 'services/status'),
    allow('list watch', 'core', 'nodes'),
    writeEvents,
  ],
};
