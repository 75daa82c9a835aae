import { notAcceptableError } from '../../machinery/status-error.js';
import type { VendorNames } from '../../machinery/vendor.js';

/** Forms an object can be asked for in, besides its own. */
export type Transformation = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** How an answer is to be written (specification 4.5). Shared between requests with the same header: never changed. */
export interface AcceptedType {
  readonly mediaType: 'json' | 'yaml' | 'protobuf';
  /** Content-Type of the answer; for protobuf in the spelling that was asked for. */
  readonly contentType: string;
  readonly as?: Transformation;
  /** Version of the meta group a transformation is asked in. */
  readonly asVersion?: 'v1' | 'v1beta1';
  readonly pretty: boolean;
}

/** Marks media types of streams of events. */
export const streamParameter = ';stream=watch';

/** One media type of an Accept header. */
export interface AcceptClause {
  /** In lower case. */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** What a client without wishes gets. */
export const plainJson: AcceptedType = Object.freeze({
  mediaType: 'json',
  contentType: 'application/json',
  pretty: false,
});
const transformations: ReadonlySet<string> = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);

function parseClause(text: string): AcceptClause {
  const [type, ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf('=');
    if (equals > 0)
      parameters.set(
        part.slice(0, equals).trim(),
        part
          .slice(equals + 1)
          .trim()
          .replaceAll('"', ''),
      );
  }
  const quality = Number(parameters.get('q') ?? '1');
  return { type: (type as string).trim().toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 };
}

/** The clauses of an Accept header, best first; those of quality 0 are refused types. */
export function parseAccept(header: string): AcceptClause[] {
  return header
    .split(',')
    .map(parseClause)
    .sort((a, b) => b.quality - a.quality);
}

/** Media types of bodies and answers, as messages name them. */
export function acceptedMediaTypes(names: VendorNames): string[] {
  return ['application/json', 'application/yaml', names.protobufMediaTypes[0] as string];
}

/**
 * Chooses the form of an answer from the Accept header, by quality and then order. Headers repeat, so choices are kept
 * in a bounded cache.
 */
export class AcceptNegotiator {
  private readonly cache = new Map<string, AcceptedType>();
  private readonly metaGroup: string;

  constructor(private readonly names: VendorNames) {
    this.metaGroup = `meta.${names.suffix}`;
  }

  /** The form of events. YAML has no way to send one after the other: who takes nothing else gets a 406. */
  negotiateStream(header: string | undefined): AcceptedType {
    // The parameter says nothing that the request doesn't.
    const accepted = this.negotiate(header?.replaceAll(streamParameter, ''), true);
    if (accepted.mediaType !== 'yaml') return accepted;
    throw notAcceptableError(
      ['application/json', this.names.protobufMediaTypes[0]].map((t) => `${t}${streamParameter}`),
    );
  }

  /** Throws a 406 when nothing that is asked for can be given. */
  negotiate(header: string | undefined, allowTransformations: boolean): AcceptedType {
    if (header === undefined || header === '' || header === '*/*' || header === 'application/json') return plainJson;
    const key = allowTransformations ? header : `!${header}`;
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    const chosen = this.choose(header, allowTransformations);
    if (this.cache.size >= 1000) this.cache.clear();
    this.cache.set(key, chosen);
    return chosen;
  }

  private choose(header: string, allowTransformations: boolean): AcceptedType {
    let sawMediaType = false;
    for (const clause of parseAccept(header)) {
      const mediaType = this.mediaTypeOf(clause.type);
      if (mediaType === undefined || clause.quality <= 0) continue;
      sawMediaType = true;
      const contentType = mediaType === 'protobuf' ? clause.type : `application/${mediaType}`;
      const pretty = clause.parameters.get('pretty') === '1';
      const as = clause.parameters.get('as');
      if (as === undefined) return { mediaType, contentType, pretty };
      const version = clause.parameters.get('v');
      const fits =
        allowTransformations &&
        transformations.has(as) &&
        // Cells of a table have no protobuf form.
        !(as === 'Table' && mediaType === 'protobuf') &&
        clause.parameters.get('g') === this.metaGroup &&
        (version === 'v1' || version === 'v1beta1');
      if (fits) {
        return { mediaType, contentType, as: as as Transformation, asVersion: version as 'v1' | 'v1beta1', pretty };
      }
    }
    throw sawMediaType ? notAcceptableError(acceptedMediaTypes(this.names)) : notAcceptableError();
  }

  private mediaTypeOf(type: string): AcceptedType['mediaType'] | undefined {
    if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
    if (type === 'application/yaml') return 'yaml';
    return this.names.protobufMediaTypes.includes(type) ? 'protobuf' : undefined;
  }
}

/** Whether JSON should be indented: asked for, or the client is one that people look at. */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty');
  if (asked !== null && asked !== '') return /^(1|t|true)$/i.test(asked);
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0');
}
