import { createHash } from 'node:crypto';
import { FieldPath } from '../../../base/machinery/field-error.js';
import { DecodeError, decode } from '../../../base/machinery/schema/index.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import {
  applyPodOnlyDefaults,
  applyPodSpecDefaults,
} from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { type Pod, pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { validatePodSpec } from '../../../objects/apis/core/v1/validation/pod-spec.validation.js';
import { isFolderName } from '../pod-folders.js';
import { type PodSource, podAnnotations } from '../pods/pod-form.js';
import { apiReference } from './api-reference.js';
import { ManifestError } from './manifest-error.js';
import { manifestValues } from './manifest-values.js';
import { readManifestValues } from './read-manifest-values.js';

export interface StaticPodContext {
  readonly nodeName: string;
  readonly source: PodSource;
  /** The file or the URL of the text. */
  readonly origin: string;
  readonly names: VendorNames;
  /** When the pod was first seen, RFC 3339. */
  readonly seen: string;
}

/**
 * The pods in a JSON or YAML text, which may contain several documents and lists of pods. Unknown fields are errors. Not for
 * texts of any size: see {@link readLargeManifest}.
 *
 * @throws ManifestError
 */
export function readManifest(text: string, context: StaticPodContext): Pod[] {
  return podsOf(manifestValues(text), context);
}

/** The same for texts of any size, however much work it is to read them. */
export async function readLargeManifest(text: string, context: StaticPodContext): Promise<Pod[]> {
  return podsOf(await readManifestValues(text), context);
}

function podsOf(values: readonly unknown[], context: StaticPodContext): Pod[] {
  return values.flatMap((value) => {
    const { kind, apiVersion, items } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown; items?: unknown };
    if (apiVersion === 'v1' && (kind === 'PodList' || kind === 'List') && Array.isArray(items)) {
      return items.map((item) => readPod(item, context));
    }
    return [readPod(value, context)];
  });
}

function readPod(value: unknown, context: StaticPodContext): Pod {
  const { kind, apiVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown };
  if (apiVersion !== 'v1' || kind !== 'Pod') throw new ManifestError('must be a Pod of v1');
  let pod: Pod;
  try {
    const decoded = decode(podType, value);
    const [unknown] = decoded.unknownFields;
    if (unknown !== undefined) throw new ManifestError(`has the unknown field ${unknown}`);
    pod = decoded.value;
  } catch (error) {
    if (error instanceof DecodeError) throw new ManifestError(error.message);
    throw error;
  }
  return completed(pod, context);
}

function completed(pod: Pod, { nodeName, source, origin, names, seen }: StaticPodContext): Pod {
  const { metadata, spec } = pod;
  const { name = '' } = metadata;
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 200)
    throw new ManifestError('needs a name for the pod');
  const namespace = metadata.namespace || 'default';
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
    throw new ManifestError('has a namespace that is not a valid name');
  applyPodSpecDefaults(spec);
  applyPodOnlyDefaults(spec);
  if (!metadata.uid) {
    const content = JSON.stringify([nodeName, source, origin, { ...pod, status: undefined }]);
    metadata.uid = createHash('sha256').update(content).digest('hex').slice(0, 32);
  }
  const uid = metadata.uid;
  if (!/^[-\w]{1,64}$/.test(uid) || !isFolderName(uid)) throw new ManifestError('has a uid that is not valid');
  const errors = validatePodSpec(spec, FieldPath.of('spec'), { names });
  if (errors[0] !== undefined) throw new ManifestError(`${errors[0].field}: ${errors[0].message}`);
  const reference = apiReference(spec);
  if (reference !== undefined) throw new ManifestError(`static pods may not reference ${reference}`);
  return {
    ...pod,
    metadata: {
      ...metadata,
      name: `${name}-${nodeName}`,
      namespace,
      annotations: {
        ...(metadata.annotations ?? {}),
        [`${names.labelPrefix}/${podAnnotations.hash}`]: uid,
        [`${names.labelPrefix}/${podAnnotations.seen}`]: seen,
        [`${names.labelPrefix}/${podAnnotations.source}`]: source,
      },
    },
    spec: {
      ...spec,
      nodeName,
      // Nobody can move these pods to another node.
      tolerations: [...(spec.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }],
    },
    status: { phase: 'Pending' },
  } as Pod;
}
