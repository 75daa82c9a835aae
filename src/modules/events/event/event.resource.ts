import type { ApiObject } from '../../../base/machinery/api-object.js';
import { isPathSegmentName } from '../../../base/machinery/names.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type Event as CoreEvent, event as coreEvent } from '../../../objects/apis/core/v1/event.types.js';
import { fromCoreEvent, toCoreEvent } from '../../../objects/apis/events/event-conversion.js';
import { type Event, event } from '../../../objects/apis/events/v1/event.types.js';
import { event as eventV1beta1 } from '../../../objects/apis/events/v1beta1/event.types.js';
import { deprecation } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type ServedVersion,
} from '../../../objects/registry/resource-definition.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { eventColumns } from './event.columns.js';
import { validateChangedEvent, validateEvent, validateStrictChange } from './event.validation.js';

/** The parts that both groups share. */
const shared = {
  resource: 'events',
  singular: 'event',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  strategyOptions: { allowCreateOnUpdate: true, dependents: 'none', plainFinalizers: true },
} as const;

/** Events in the form of the core group, which is also the stored one. */
export function coreEventResource(names: VendorNames): ResourceDefinition {
  return defineResource<CoreEvent>({
    ...shared,
    group: '',
    versions: [{ version: 'v1', type: coreEvent }],
    strategy: eventStrategy(names),
    columns: eventColumns,
    selectableFieldNames: [...referenceFields('involvedObject'), 'source', 'reportingComponent', 'reason', 'type'],
    selectableFields: (object) => ({
      ...referenceValues('involvedObject', object),
      source: object.source.component || object.reportingComponent,
      reportingComponent: object.reportingComponent,
      reason: object.reason ?? '',
      type: object.type ?? '',
    }),
  });
}

/** Events in the form of the events group; the same events as those of the core group. */
export function eventResource(names: VendorNames): ResourceDefinition {
  return defineResource<CoreEvent>({
    ...shared,
    group: groupName('events', names),
    storedAs: { group: '', resource: 'events' },
    strategyOptions: { ...shared.strategyOptions, plainFinalizers: false },
    versions: [
      { version: 'v1', type: event, ...conversion },
      {
        version: 'v1beta1',
        type: eventV1beta1,
        ...conversion,
        deprecated: deprecation({
          group: groupName('events', names),
          version: 'v1beta1',
          kind: 'Event',
          since: '1.22',
          removed: '1.25',
        }),
      },
    ],
    strategy: eventStrategy(names, 'v1'),
    columns: eventColumns,
    selectableFieldNames: [...referenceFields('regarding'), 'reportingController', 'reason', 'type'],
    selectableFields: (object) => ({
      ...referenceValues('regarding', object),
      reportingController: object.reportingComponent,
      reason: object.reason ?? '',
      type: object.type ?? '',
    }),
  });
}

const conversion: Pick<ServedVersion, 'toStored' | 'fromStored'> = {
  toStored: (object) => toCoreEvent(object as unknown as Event) as unknown as ApiObject,
  fromStored: (object) => fromCoreEvent(object as unknown as CoreEvent) as unknown as ApiObject,
};

/** The rules of events; those written in `strictVersion` are checked more strictly. */
function eventStrategy(names: VendorNames, strictVersion?: string): Strategy<CoreEvent> {
  const isStrict = ({ requestInfo }: RequestContext): boolean => requestInfo.apiVersion === strictVersion;
  return {
    validateName: isPathSegmentName,
    validate: (context, object) => validateEvent(object, names, isStrict(context)),
    validateUpdate: (context, object, old) =>
      isStrict(context) ? validateStrictChange(object, old, names) : validateChangedEvent(object, names, false),
  };
}

const referenceParts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

function referenceFields(prefix: string): string[] {
  return referenceParts.map((part) => `${prefix}.${part}`);
}

function referenceValues(prefix: string, object: CoreEvent): Record<string, string> {
  const values: Record<string, string> = {};
  for (const part of referenceParts) values[`${prefix}.${part}`] = object.involvedObject[part] ?? '';
  return values;
}
