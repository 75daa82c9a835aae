import { message, nested, nestedList, scalar, scalars, texts, type WireReader, type Written } from '../grpc/wire.js';
import { containerMetadata, imageSpec } from './container-messages.js';
import { numberValue, sandboxConfig, sandboxMetadata } from './sandbox-messages.js';

export const image = message({
  id: scalar(1, 'string'),
  repoTags: scalars(2, 'string'),
  repoDigests: scalars(3, 'string'),
  size: scalar(4, 'integer'),
  uid: nested(5, numberValue),
  username: scalar(6, 'string'),
  pinned: scalar(8, 'bool'),
});
export type Image = WireReader<typeof image>;

export const imageRequest = message({ image: nested(1, imageSpec), verbose: scalar(2, 'bool') });
export const imageStatusResponse = message({ image: nested(1, image) });
export const listImagesResponse = message({ images: nestedList(1, image) });

export const authConfig = message({
  username: scalar(1, 'string'),
  password: scalar(2, 'string'),
  auth: scalar(3, 'string'),
  serverAddress: scalar(4, 'string'),
  identityToken: scalar(5, 'string'),
  registryToken: scalar(6, 'string'),
});
export type AuthConfig = Written<typeof authConfig>;

export const pullImageRequest = message({
  image: nested(1, imageSpec),
  auth: nested(2, authConfig),
  sandboxConfig: nested(3, sandboxConfig),
});
export const pullImageResponse = message({ imageRef: scalar(1, 'string') });

const filesystemUsage = message({
  timestamp: scalar(1, 'integer'),
  fsId: nested(2, message({ mountpoint: scalar(1, 'string') })),
  usedBytes: nested(3, numberValue),
  inodesUsed: nested(4, numberValue),
});

export const imageFsInfoResponse = message({
  imageFilesystems: nestedList(1, filesystemUsage),
  containerFilesystems: nestedList(2, filesystemUsage),
});

export const versionRequest = message({ version: scalar(1, 'string') });
export const versionResponse = message({
  version: scalar(1, 'string'),
  runtimeName: scalar(2, 'string'),
  runtimeVersion: scalar(3, 'string'),
  runtimeApiVersion: scalar(4, 'string'),
});
export type RuntimeVersion = WireReader<typeof versionResponse>;

export const statusRequest = message({ verbose: scalar(1, 'bool') });
export const statusResponse = message({
  status: nested(
    1,
    message({
      conditions: nestedList(
        1,
        message({
          type: scalar(1, 'string'),
          status: scalar(2, 'bool'),
          reason: scalar(3, 'string'),
          message: scalar(4, 'string'),
        }),
      ),
    }),
  ),
  info: texts(2),
  runtimeHandlers: nestedList(
    3,
    message({
      name: scalar(1, 'string'),
      features: nested(2, message({ recursiveReadOnlyMounts: scalar(1, 'bool'), userNamespaces: scalar(2, 'bool') })),
    }),
  ),
  features: nested(4, message({ supplementalGroupsPolicy: scalar(1, 'bool') })),
});
export type RuntimeStatus = WireReader<typeof statusResponse>;

export const updateRuntimeConfigRequest = message({
  runtimeConfig: nested(1, message({ networkConfig: nested(1, message({ podCidr: scalar(1, 'string') })) })),
});

/** The number of the driver that has systemd make cgroups. */
export const systemdDriver = 0;

export const runtimeConfigResponse = message({
  linux: nested(1, message({ cgroupDriver: scalar(1, 'integer') })),
});

const cpuUsage = message({
  timestamp: scalar(1, 'integer'),
  usageCoreNanoSeconds: nested(2, numberValue),
  usageNanoCores: nested(3, numberValue),
});
const memoryUsage = message({
  timestamp: scalar(1, 'integer'),
  workingSetBytes: nested(2, numberValue),
  availableBytes: nested(3, numberValue),
  usageBytes: nested(4, numberValue),
  rssBytes: nested(5, numberValue),
  pageFaults: nested(6, numberValue),
  majorPageFaults: nested(7, numberValue),
});

export const containerStats = message({
  attributes: nested(
    1,
    message({
      id: scalar(1, 'string'),
      metadata: nested(2, containerMetadata),
      labels: texts(3),
      annotations: texts(4),
    }),
  ),
  cpu: nested(2, cpuUsage),
  memory: nested(3, memoryUsage),
  writableLayer: nested(4, filesystemUsage),
});
export type ContainerStats = WireReader<typeof containerStats>;

export const listContainerStatsRequest = message({});
export const listContainerStatsResponse = message({ stats: nestedList(1, containerStats) });

const interfaceUsage = message({
  name: scalar(1, 'string'),
  rxBytes: nested(2, numberValue),
  rxErrors: nested(3, numberValue),
  txBytes: nested(4, numberValue),
  txErrors: nested(5, numberValue),
});

export const sandboxStats = message({
  attributes: nested(1, message({ id: scalar(1, 'string'), metadata: nested(2, sandboxMetadata), labels: texts(3) })),
  linux: nested(
    2,
    message({
      cpu: nested(1, cpuUsage),
      memory: nested(2, memoryUsage),
      network: nested(
        3,
        message({
          timestamp: scalar(1, 'integer'),
          defaultInterface: nested(2, interfaceUsage),
          interfaces: nestedList(3, interfaceUsage),
        }),
      ),
      process: nested(4, message({ processCount: nested(2, numberValue) })),
      containers: nestedList(5, containerStats),
    }),
  ),
});
export type SandboxStats = WireReader<typeof sandboxStats>;
export const listSandboxStatsResponse = message({ stats: nestedList(1, sandboxStats) });
