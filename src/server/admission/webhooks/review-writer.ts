import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { AdmissionAttributes } from '../attributes.js';
import type { ResourceAndKind, ResourceVersions } from '../matching/resource-versions.js';
import { VersionedObjects } from '../matching/versioned-objects.js';

/** The versions of AdmissionReview that this server sends. */
export type AdmissionReviewVersion = 'v1' | 'v1beta1';

/** A review for one hook. */
export interface Review {
  /** The id that the response must repeat. */
  readonly uid: string;
  readonly body: Buffer;
}

/**
 * Writes the reviews of one request (specification 4.11): several hooks share the JSON of the objects, which is written
 * once per version. Once the object of the request may have changed, a new writer is needed.
 */
export class ReviewWriter {
  readonly objects: VersionedObjects;
  private readonly texts = new Map<ApiObject, string>();

  /** @param group name of the group of AdmissionReview */
  constructor(
    private readonly attributes: AdmissionAttributes,
    versions: ResourceVersions,
    private readonly group: string,
  ) {
    this.objects = new VersionedObjects(attributes, versions);
  }

  /** @param matched the version and kind in which the hook wants the request */
  write(version: AdmissionReviewVersion, matched: ResourceAndKind): Review {
    const { attributes } = this;
    const { object, oldObject } = this.objects.as(matched);
    const uid = randomUUID();
    const info = {
      uid,
      kind: matched.kind,
      resource: matched.resource,
      ...filled('subResource', attributes.subresource),
      requestKind: attributes.kind,
      requestResource: attributes.resource,
      ...filled('requestSubResource', attributes.subresource),
      ...filled('name', attributes.name),
      ...filled('namespace', attributes.namespace),
      operation: attributes.operation,
      userInfo: userInfoOf(attributes.userInfo),
    };
    // For a connect request, the options are already sent as the object.
    const options = attributes.operation === 'CONNECT' ? null : attributes.options;
    const rest = { dryRun: attributes.dryRun, options };
    const text = `{"kind":"AdmissionReview","apiVersion":"${this.group}/${version}","request":${opened(info)},"object":${this.textOf(object)},"oldObject":${this.textOf(oldObject)},${continued(rest)}}`;
    return { uid, body: Buffer.from(text) };
  }

  private textOf(object: ApiObject | undefined): string {
    if (object === undefined) return 'null';
    let text = this.texts.get(object);
    if (text === undefined) {
      text = JSON.stringify(object);
      this.texts.set(object, text);
    }
    return text;
  }
}

/** The JSON of an object without its closing brace. */
function opened(fields: object): string {
  return JSON.stringify(fields).slice(0, -1);
}

/** The JSON of an object without its opening brace. */
function continued(fields: object): string {
  return JSON.stringify(fields).slice(1);
}

function filled(field: string, value: string): Readonly<Record<string, string>> {
  return value === '' ? {} : { [field]: value };
}

function userInfoOf({ name, uid, groups, extra }: UserInfo): object {
  return {
    ...filled('username', name),
    ...filled('uid', uid),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
