import { createHash } from 'node:crypto';

/** A volume as its CSI driver identifies it. */
export interface CsiSource {
  readonly driver: string;
  readonly handle: string;
}

/** The name of the VolumeAttachment of a volume on a node, which CSI drivers' attachers and node agents compute too. */
export function attachmentName({ driver, handle }: CsiSource, nodeName: string): string {
  return `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`;
}

/** The name of a CSI volume in the status of nodes. */
export function csiUniqueName({ driver, handle }: CsiSource, labelPrefix: string): string {
  return `${labelPrefix}/csi/${driver}^${handle}`;
}

/** The reverse of {@link csiUniqueName}; undefined for volumes of other kinds. */
export function csiSourceOf(uniqueName: string, labelPrefix: string): CsiSource | undefined {
  const prefix = `${labelPrefix}/csi/`;
  const at = uniqueName.indexOf('^');
  if (!uniqueName.startsWith(prefix) || at < 0) return undefined;
  return { driver: uniqueName.slice(prefix.length, at), handle: uniqueName.slice(at + 1) };
}
