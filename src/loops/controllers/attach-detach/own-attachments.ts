import type { ApiObject } from '../../../base/machinery/api-object.js';
import { attachmentName, csiSourceOf, csiUniqueName } from '../../../objects/apis/storage/csi-names.js';
import type { VolumeAttachment } from '../../../objects/apis/storage/v1/volume-attachment.types.js';
import type { Informer, InformerIndex } from '../../../objects/registry/informers/informer.js';
import type { StoredNode } from '../node-lifecycle/node-silence.js';
import { csiOf, type StoredVolume } from './attachable-volume.js';

export type StoredAttachment = VolumeAttachment & ApiObject;

/** Finds the attachments that the controller made, and remembers which volume each of them attaches. */
export class OwnAttachments {
  /** Volume names by attachment name, for a PersistentVolume that is gone before its attachment. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly labelPrefix: string,
    private readonly ofNode: InformerIndex<StoredAttachment>,
    private readonly volumes: Pick<Informer<StoredVolume>, 'get'>,
  ) {}

  /** Forgets all attachments. */
  clear(): void {
    this.names.clear();
  }

  /** Remembers the volume of an attachment. */
  note({ metadata }: StoredAttachment, uniqueName: string): void {
    this.names.set(metadata.name ?? '', uniqueName);
  }

  /** Forgets an attachment that is gone. */
  forget(attachmentName: string): void {
    this.names.delete(attachmentName);
  }

  /** The attachments of a node that this controller made, by the names of their volumes. */
  on(nodeName: string, node: StoredNode | undefined): Map<string, StoredAttachment> {
    const { labelPrefix } = this;
    const listed = new Map<string, string>();
    for (const { name } of node?.status?.volumesAttached ?? []) {
      const csi = csiSourceOf(name, labelPrefix);
      if (csi !== undefined) listed.set(attachmentName(csi, nodeName), name);
    }
    const found = new Map<string, StoredAttachment>();
    for (const attachment of this.ofNode.get(nodeName)) {
      const { name = '' } = attachment.metadata;
      const uniqueName = this.nameOf(attachment) ?? listed.get(name) ?? this.names.get(name);
      const csi = uniqueName === undefined ? undefined : csiSourceOf(uniqueName, labelPrefix);
      // Attachments with other names belong to somebody else.
      if (uniqueName === undefined || csi === undefined || attachmentName(csi, nodeName) !== name) continue;
      this.note(attachment, uniqueName);
      found.set(uniqueName, attachment);
    }
    return found;
  }

  private nameOf({ spec }: StoredAttachment): string | undefined {
    const { labelPrefix } = this;
    const { persistentVolumeName, inlineVolumeSpec } = spec.source;
    const volume =
      persistentVolumeName === undefined
        ? ({ metadata: {}, spec: inlineVolumeSpec ?? {} } as StoredVolume)
        : this.volumes.get('', persistentVolumeName);
    const csi = volume && csiOf(volume, labelPrefix);
    return csi && csiUniqueName(csi, labelPrefix);
  }
}
