import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

/** A span that was received. Ids are in hexadecimal, times in milliseconds since the epoch. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`);
const requestType = root.lookupType('Request');
const servicePath = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

interface KeyValue {
  readonly key: string;
  readonly value: { stringValue?: string; boolValue?: boolean; intValue?: unknown; doubleValue?: number };
}

/** Receives traces as OTLP over gRPC. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** The header fields `authorization` of the requests. */
  readonly authorizations: (string | undefined)[] = [];
  private readonly sessions = new Set<ServerHttp2Session>();

  private constructor(private readonly server: Http2Server | Http2SecureServer) {}

  /** @param tls default: without TLS */
  static async start(tls?: SecureServerOptions): Promise<OtlpReceiver> {
    const server = tls === undefined ? createServer() : createSecureServer(tls);
    const receiver = new OtlpReceiver(server);
    server.on('session', (session) => {
      receiver.sessions.add(session);
      session.once('close', () => receiver.sessions.delete(session));
    });
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      const chunks: Buffer[] = [];
      receiver.authorizations.push(headers.authorization);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', () => undefined);
      stream.on('end', () => {
        if (headers[':path'] === servicePath) receiver.take(Buffer.concat(chunks).subarray(5));
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.alloc(5));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get endpoint(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    const closed = once(this.server, 'close');
    this.server.close();
    await closed;
  }

  private take(bytes: Buffer): void {
    const message = requestType.toObject(requestType.decode(bytes), { longs: String, bytes: Buffer }) as {
      resourceSpans?: readonly {
        readonly resource?: { readonly attributes?: readonly KeyValue[] };
        readonly scopeSpans?: readonly { readonly spans?: readonly Record<string, unknown>[] }[];
      }[];
    };
    for (const { resource, scopeSpans = [] } of message.resourceSpans ?? []) {
      const service = String(attributesOf(resource?.attributes)['service.name']);
      for (const span of scopeSpans.flatMap(({ spans = [] }) => spans)) {
        const hex = (value: unknown) => Buffer.from((value as Uint8Array | undefined) ?? []).toString('hex');
        this.spans.push({
          service,
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId),
          name: String(span.name),
          start: Number(BigInt(String(span.startTimeUnixNano)) / 1000n) / 1000,
          end: Number(BigInt(String(span.endTimeUnixNano)) / 1000n) / 1000,
          attributes: attributesOf(span.attributes as readonly KeyValue[] | undefined),
        });
      }
    }
  }
}

function attributesOf(pairs: readonly KeyValue[] = []): Record<string, string | number | boolean> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );
}
