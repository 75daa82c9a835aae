import { noRepresentationError, notAcceptableError } from '../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';

/** The longest header whose choice is cached, in characters. */
const mostCachedHeader = 1024;

/** Forms in which an object can be requested, besides its own. */
export type Transformation = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** The form of a response (specification 4.5). Requests with the same header share it, so it must not be changed. */
export interface AcceptedType {
  readonly mediaType: 'json' | 'yaml' | 'protobuf' | 'cbor';
  /** Content-Type of the response; for protobuf, spelled as in the request. */
  readonly contentType: string;
  readonly as?: Transformation;
  /** The version of the meta group in which a transformation is requested. */
  readonly asVersion?: 'v1' | 'v1beta1';
  readonly pretty: boolean;
}

/** What a path can answer with. */
export interface Offer {
  /** false: an object of a custom kind, of which only transformations have a protobuf form. */
  readonly hasProtobuf?: boolean;
  /** false: something that is shown whole or as metadata, but never as a table. */
  readonly hasTables?: boolean;
  /** The types that the 406 for a header with none of them lists; undefined: as for a form that is missing. */
  readonly representations?: readonly string[];
}

/** Marks the media types of event streams. */
export const streamParameter = ';stream=watch';

/** CBOR (RFC 8949), and a stream of events in it (RFC 8742). */
export const cborType = 'application/cbor';
export const cborSequenceType = 'application/cbor-seq';

/** One media type of an Accept header. */
export interface AcceptClause {
  /** In lower case. */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The form for clients that express no preference. */
export const plainJsonType: AcceptedType = Object.freeze({
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

/** The clauses of an Accept header, best first. A quality of 0 refuses a type. */
export function parseAccept(header: string): AcceptClause[] {
  return header
    .split(',')
    .map(parseClause)
    .sort((a, b) => b.quality - a.quality);
}

/**
 * Checks that an Accept header names one of the types that a path has, whatever their parameters.
 *
 * @throws StatusError 406 that lists them
 */
export function checkRepresentations(header: string | undefined, available: readonly string[]): void {
  if (header === undefined || header === '') return;
  const fits = parseAccept(header).some(({ type }) => type === '*/*' || available.includes(type));
  if (!fits) throw noRepresentationError(available);
}

/**
 * Chooses the form of a response from the Accept header, by quality and then by order. The same headers recur, so
 * choices are kept in a bounded cache.
 */
export class AcceptNegotiator {
  private readonly cache = new Map<string, AcceptedType>();
  private readonly metaGroup: string;
  // Made once: every request of a list passes one of them.
  private readonly plainTypes: readonly string[];
  private readonly listTypes: readonly string[];

  /** @param hasCbor whether CBOR is supported at all */
  constructor(
    private readonly names: VendorNames,
    readonly hasCbor = true,
  ) {
    this.metaGroup = `meta.${names.suffix}`;
    this.plainTypes = ['application/json', 'application/yaml', names.protobufMediaTypes[0] as string];
    this.listTypes = [...this.plainTypes, ...this.eventTypes()];
  }

  /**
   * Media types of bodies and responses, as listed in messages. Clients compare these lists, so CBOR, which the
   * reference supports only behind a feature gate, is omitted, and protobuf is there for custom kinds too.
   */
  mediaTypes(): readonly string[] {
    return this.plainTypes;
  }

  /** Media types of lists, which may also be watched, as listed in messages. */
  streamTypes(): readonly string[] {
    return this.listTypes;
  }

  /**
   * Media types of bodies and responses, as the OpenAPI documents list them: with CBOR where it is supported.
   *
   * @param hasProtobuf false for objects of custom kinds
   */
  documentedTypes(hasProtobuf = true): string[] {
    return [...this.typesOf(hasProtobuf), ...(this.hasCbor ? [cborType] : [])];
  }

  /** Like {@link documentedTypes}, for lists, which may also be watched. */
  documentedStreamTypes(hasProtobuf: boolean): string[] {
    const types = [...this.typesOf(hasProtobuf), ...this.eventTypes(hasProtobuf)];
    return [...types, ...(this.hasCbor ? [cborType, cborSequenceType] : [])];
  }

  /** The body format of a media type in lower case; undefined for an unsupported one. */
  bodyFormat(mediaType: string, hasProtobuf: boolean): AcceptedType['mediaType'] | undefined {
    if (mediaType === 'application/json') return 'json';
    if (mediaType === 'application/yaml') return 'yaml';
    if (mediaType === cborType) return this.hasCbor ? 'cbor' : undefined;
    return hasProtobuf && this.names.protobufMediaTypes.includes(mediaType) ? 'protobuf' : undefined;
  }

  /** The form of events. YAML can't be streamed; clients that accept only YAML get a 406. */
  negotiateStream(header: string | undefined, offer: Offer = {}): AcceptedType {
    // The stream parameter and the name of CBOR sequences only repeat that the request is a watch.
    const plain = header?.replaceAll(streamParameter, '').replaceAll(cborSequenceType, cborType);
    const accepted = this.negotiate(plain, true, offer);
    if (accepted.mediaType !== 'yaml') return accepted;
    throw notAcceptableError(this.eventTypes());
  }

  /** Chooses the form of a response. Throws a 406 when no accepted form is available. */
  negotiate(header: string | undefined, allowTransformations: boolean, offer: Offer = {}): AcceptedType {
    if (header === undefined || header === '' || header === '*/*' || header === 'application/json')
      return plainJsonType;
    const { hasProtobuf = true, hasTables = true } = offer;
    const key = `${allowTransformations ? '' : '!'}${hasProtobuf ? '' : '-'}${hasTables ? '' : '#'}${header}`;
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    const chosen = this.choose(header, allowTransformations, offer);
    // No usual client sends so long a header, and a thousand of them would take much memory.
    if (header.length > mostCachedHeader) return chosen;
    if (this.cache.size >= 1000) this.cache.clear();
    this.cache.set(key, chosen);
    return chosen;
  }

  private typesOf(hasProtobuf: boolean): readonly string[] {
    return hasProtobuf ? this.mediaTypes() : this.mediaTypes().slice(0, -1);
  }

  private eventTypes(hasProtobuf = true): string[] {
    const types = this.typesOf(hasProtobuf).filter((type) => type !== 'application/yaml');
    return types.map((type) => `${type}${streamParameter}`);
  }

  private choose(
    header: string,
    allowTransformations: boolean,
    { hasProtobuf = true, hasTables = true, representations }: Offer,
  ): AcceptedType {
    let sawMediaType = false;
    for (const clause of parseAccept(header)) {
      const mediaType = this.mediaTypeOf(clause.type);
      if (mediaType === undefined || clause.quality <= 0) continue;
      sawMediaType = true;
      const contentType = mediaType === 'protobuf' ? clause.type : `application/${mediaType}`;
      const pretty = clause.parameters.get('pretty') === '1';
      const as = clause.parameters.get('as') || undefined;
      if (as === undefined) {
        if (mediaType === 'protobuf' && !hasProtobuf) continue;
        // Without a form to convert to, a group or version names one that nobody knows.
        if (clause.parameters.has('g') || clause.parameters.has('v')) continue;
        return { mediaType, contentType, pretty };
      }
      const version = clause.parameters.get('v');
      const fits =
        allowTransformations &&
        transformations.has(as) &&
        // Table cells have no protobuf form.
        !(as === 'Table' && (mediaType === 'protobuf' || !hasTables)) &&
        clause.parameters.get('g') === this.metaGroup &&
        (version === 'v1' || version === 'v1beta1');
      if (fits) {
        return { mediaType, contentType, as: as as Transformation, asVersion: version as 'v1' | 'v1beta1', pretty };
      }
    }
    if (sawMediaType || representations === undefined) throw notAcceptableError(this.mediaTypes());
    throw noRepresentationError(representations);
  }

  private mediaTypeOf(type: string): AcceptedType['mediaType'] | undefined {
    if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
    if (type === 'application/yaml') return 'yaml';
    if (type === cborType) return this.hasCbor ? 'cbor' : undefined;
    return this.names.protobufMediaTypes.includes(type) ? 'protobuf' : undefined;
  }
}

/** Whether to indent JSON: on request, and for browsers and command-line clients whose output people read directly. */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty');
  if (asked !== null && asked !== '') return /^(1|t|true)$/i.test(asked);
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0');
}
