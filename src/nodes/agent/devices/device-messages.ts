import { message, nested, nestedList, scalar, scalars, texts, type WireReader, type Written } from '../grpc/wire.js';

/** The version of the device plugin interface. */
export const deviceApiVersion = 'v1beta1';
export const registrationService = 'v1beta1.Registration';
export const devicePluginService = 'v1beta1.DevicePlugin';
/** The state of a device that can be assigned. */
export const healthyDevice = 'Healthy';

/** Requests and responses without content. */
export const noContent = message({});

export const pluginOptions = message({
  preStartRequired: scalar(1, 'bool'),
  getPreferredAllocationAvailable: scalar(2, 'bool'),
});
export type PluginOptions = WireReader<typeof pluginOptions>;

export const registerRequest = message({
  version: scalar(1, 'string'),
  endpoint: scalar(2, 'string'),
  resourceName: scalar(3, 'string'),
  options: nested(4, pluginOptions),
});
export type RegisterRequest = WireReader<typeof registerRequest>;

export const deviceList = message({
  devices: nestedList(1, message({ id: scalar(1, 'string'), health: scalar(2, 'string') })),
});
export type DeviceList = WireReader<typeof deviceList>;

export const preferredRequest = message({
  containerRequests: nestedList(
    1,
    message({ available: scalars(1, 'string'), mustInclude: scalars(2, 'string'), size: scalar(3, 'integer') }),
  ),
});
export const preferredResponse = message({
  containerResponses: nestedList(1, message({ deviceIds: scalars(1, 'string') })),
});

export const allocateRequest = message({
  containerRequests: nestedList(1, message({ deviceIds: scalars(1, 'string') })),
});

const containerAllocation = message({
  envs: texts(1),
  mounts: nestedList(
    2,
    message({ containerPath: scalar(1, 'string'), hostPath: scalar(2, 'string'), readonly: scalar(3, 'bool') }),
  ),
  devices: nestedList(
    3,
    message({ containerPath: scalar(1, 'string'), hostPath: scalar(2, 'string'), permissions: scalar(3, 'string') }),
  ),
  annotations: texts(4),
  cdiDevices: nestedList(5, message({ name: scalar(1, 'string') })),
});
/** The settings of a container for its devices. */
export type ContainerAllocation = Written<typeof containerAllocation>;

export const allocateResponse = message({ containerResponses: nestedList(1, containerAllocation) });

export const preStartRequest = message({ deviceIds: scalars(1, 'string') });
