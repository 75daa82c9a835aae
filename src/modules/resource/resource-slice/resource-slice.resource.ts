import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type ResourceSlice, resourceSlice } from '../../../objects/apis/resource/v1/resource-slice.types.js';
import { resourceSlice as resourceSliceV1beta1 } from '../../../objects/apis/resource/v1beta1/resource.types.js';
import { resourceSlice as resourceSliceV1beta2 } from '../../../objects/apis/resource/v1beta2/resource.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { asVersion } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type ServedVersion,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { dropClosedSliceFields } from '../versions/closed-gates.js';
import { validateResourceSlice } from './resource-slice.validation.js';

const columns: readonly TableColumn<ResourceSlice>[] = [
  nameColumn,
  { name: 'Node', type: 'string', description: 'Node of the devices.', cell: ({ spec }) => spec.nodeName ?? '' },
  { name: 'Driver', type: 'string', description: 'Driver of the devices.', cell: ({ spec }) => spec.driver },
  {
    name: 'Pool',
    type: 'string',
    description: 'Pool that the slice is a part of.',
    cell: ({ spec }) => spec.pool.name,
  },
  ageColumn,
];

/** `resourceslices`: devices that drivers offer. */
export function resourceSliceResource(names: VendorNames, clock: Clock): ResourceDefinition {
  const applyTaintTimes = (devices: readonly TaintedDevice[] | undefined) => {
    for (const { taints = [] } of devices ?? []) {
      for (const taint of taints) taint.timeAdded ??= formatTime(clock.now());
    }
  };
  return defineResource<ResourceSlice>({
    group: groupName('resource', names),
    resource: 'resourceslices',
    singular: 'resourceslice',
    kind: 'ResourceSlice',
    namespaced: false,
    versions: [
      { version: 'v1', type: resourceSlice },
      { version: 'v1beta2', type: resourceSliceV1beta2, isOffByDefault: true },
      { ...v1beta1, applyDefaults: (object) => applyTaintTimes(betaDevices(object)) },
    ],
    strategyOptions: { generation: 'spec', returnsDeletedObject: true },
    strategy: {
      applyDefaults: ({ spec }) => applyTaintTimes(spec.devices),
      prepareForCreate: (_context, { spec }) => dropClosedSliceFields(spec),
      prepareForUpdate: (_context, { spec }) => dropClosedSliceFields(spec),
      validate: (_context, object) => validateResourceSlice(object),
      validateUpdate: (_context, object, old) => validateResourceSlice(object, old),
      warnings: (_context, { spec: { driver } }) =>
        driver === driver.toLowerCase()
          ? []
          : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`],
    },
    selectableFieldNames: ['spec.nodeName', 'spec.driver', 'spec.pool.name'],
    hidesNamespace: true,
    unselectable: (field) =>
      `field label not supported for ${groupName('resource', names)}/v1, Kind=ResourceSlice: ${field}`,
    selectableFields: ({ spec }) => ({
      'spec.nodeName': spec.nodeName ?? '',
      'spec.driver': spec.driver,
      'spec.pool.name': spec.pool.name,
    }),
    columns,
  });
}

interface TaintedDevice {
  taints?: { timeAdded?: string | undefined }[];
}

interface BetaDevice {
  readonly name: string;
  readonly basic?: TaintedDevice;
}

type BetaSlice = Omit<ResourceSlice, 'spec'> & {
  spec: Omit<ResourceSlice['spec'], 'devices'> & { devices?: BetaDevice[] };
};

function betaDevices(object: ApiObject): TaintedDevice[] {
  return ((object as unknown as BetaSlice).spec.devices ?? []).map(({ basic }) => basic ?? {});
}

/** Devices of v1beta1 have their properties one level deeper. */
const v1beta1: ServedVersion = {
  version: 'v1beta1',
  type: resourceSliceV1beta1,
  isOffByDefault: true,
  toStored: (object) => {
    const { spec, ...rest } = object as unknown as BetaSlice;
    const devices = spec.devices?.map(({ name, basic }) => ({ name, ...basic }));
    return asVersion(resourceSlice, { ...rest, spec: devices === undefined ? spec : { ...spec, devices } });
  },
  fromStored: (object) => {
    const { spec, ...rest } = object as unknown as ResourceSlice;
    const devices = spec.devices?.map(({ name, ...basic }) => ({ name, basic }));
    return asVersion(resourceSliceV1beta1, { ...rest, spec: devices === undefined ? spec : { ...spec, devices } });
  },
};
