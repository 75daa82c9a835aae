import { message, nested, nestedList, scalar, scalars, texts, type WireReader, type Written } from '../grpc/wire.js';

/** Access modes of a volume as drivers name them: how many nodes may use it, and how. */
export const accessModes = {
  unknown: 0,
  singleNodeWriter: 1,
  multiNodeReaderOnly: 3,
  multiNodeMultiWriter: 5,
  singleNodeSingleWriter: 6,
  singleNodeMultiWriter: 7,
} as const;

/** Capabilities of a driver on a node. */
export const nodeCapabilities = {
  stageVolume: 1,
  volumeStats: 2,
  expandVolume: 3,
  singleNodeMultiWriter: 5,
  volumeMountGroup: 6,
} as const;

export const usageUnits = { bytes: 1, inodes: 2 } as const;

const volumeCapability = message({
  block: nested(1, message({})),
  mount: nested(
    2,
    message({ fsType: scalar(1, 'string'), mountFlags: scalars(2, 'string'), volumeMountGroup: scalar(3, 'string') }),
  ),
  accessMode: nested(3, message({ mode: scalar(1, 'integer') })),
});
export type VolumeCapability = Written<typeof volumeCapability>;

export const stageRequest = message({
  volumeId: scalar(1, 'string'),
  publishContext: texts(2),
  stagingTargetPath: scalar(3, 'string'),
  volumeCapability: nested(4, volumeCapability),
  secrets: texts(5),
  volumeContext: texts(6),
});
export type StageRequest = Written<typeof stageRequest>;

export const unstageRequest = message({ volumeId: scalar(1, 'string'), stagingTargetPath: scalar(2, 'string') });

export const publishRequest = message({
  volumeId: scalar(1, 'string'),
  publishContext: texts(2),
  stagingTargetPath: scalar(3, 'string'),
  targetPath: scalar(4, 'string'),
  volumeCapability: nested(5, volumeCapability),
  readonly: scalar(6, 'bool'),
  secrets: texts(7),
  volumeContext: texts(8),
});
export type PublishRequest = Written<typeof publishRequest>;

export const unpublishRequest = message({ volumeId: scalar(1, 'string'), targetPath: scalar(2, 'string') });

export const statsRequest = message({
  volumeId: scalar(1, 'string'),
  volumePath: scalar(2, 'string'),
  stagingTargetPath: scalar(3, 'string'),
});

export const statsResponse = message({
  usage: nestedList(
    1,
    message({
      available: scalar(1, 'integer'),
      total: scalar(2, 'integer'),
      used: scalar(3, 'integer'),
      unit: scalar(4, 'integer'),
    }),
  ),
});
export type VolumeStats = WireReader<typeof statsResponse>;

export const capabilitiesResponse = message({
  capabilities: nestedList(1, message({ rpc: nested(1, message({ type: scalar(1, 'integer') })) })),
});

export const infoResponse = message({
  nodeId: scalar(1, 'string'),
  maxVolumesPerNode: scalar(2, 'integer'),
  accessibleTopology: nested(3, message({ segments: texts(1) })),
});
export type DriverInfo = WireReader<typeof infoResponse>;

export const expandRequest = message({
  volumeId: scalar(1, 'string'),
  volumePath: scalar(2, 'string'),
  capacityRange: nested(3, message({ requiredBytes: scalar(1, 'integer'), limitBytes: scalar(2, 'integer') })),
  stagingTargetPath: scalar(4, 'string'),
  volumeCapability: nested(5, volumeCapability),
  secrets: texts(6),
});
export type ExpandRequest = Written<typeof expandRequest>;

export const expandResponse = message({ capacityBytes: scalar(1, 'integer') });
