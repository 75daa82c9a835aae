import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SpdyError } from '../../../base/machinery/spdy/spdy-error.js';
import {
  dataHead,
  openFrame,
  pingFrame,
  resetFrame,
  type SpdyEvent,
  SpdyReader,
} from '../../../base/machinery/spdy/spdy-frames.js';
import { SpdyHeaderWriter } from '../../../base/machinery/spdy/spdy-header-writer.js';
import { badRequestError, StatusError } from '../../../base/machinery/status-error.js';
import { closeCodes } from '../../../base/machinery/web-socket/web-socket-error.js';
import { writeFully } from '../../../base/machinery/web-socket/write-fully.js';
import type { ResourceRequest } from '../resource-request.js';
import type { Upgrade } from '../web-sockets.js';
import type { AgentStream } from './agent-stream.js';
import { ClientWebSocket } from './client-web-socket.js';
import type { StreamOptions } from './connect-options.js';

/** The WebSocket protocol in which the client can close stdin (a message on {@link closeChannel} names the channel). */
export const translatedProtocol = 'v5.channel.k8s.io';
/** The protocol used with agents over SPDY. */
const agentProtocol = 'v4.channel.k8s.io';

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
type ChannelName = keyof typeof channels;
const closeChannel = 255;
/** Maximum size of a command's status; a longer one is cut. */
const maxStatusBytes = 64 * 1024;

/**
 * Runs a command, or attaches to one, for a client of the newer WebSocket protocol: its messages are translated to SPDY
 * streams, which agents support. Throws a StatusError before the response is sent; later faults are sent as the
 * command's status.
 */
export async function execOverWebSocket(
  request: ResourceRequest,
  upgrade: Upgrade,
  { ask, options, end }: AgentStream,
): Promise<void> {
  if (options.stdin !== true && options.stdout !== true && options.stderr !== true) {
    throw badRequestError('you must specify at least 1 of stdin, stdout, stderr');
  }
  const { context, reply, services } = request;
  const answer = await ask('POST', {
    'user-agent': context.userAgent,
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': agentProtocol,
  });
  const { 'x-stream-protocol-version': chosen = '' } = answer.response.headers;
  if (chosen !== agentProtocol) {
    answer.socket.destroy();
    throw new StatusError('InternalError', `the node agent does not speak ${agentProtocol}`);
  }
  const throttle = services.throttle.writerOf(reply.raw);
  reply.hijack();
  context.isUpgraded = true;
  const client = ClientWebSocket.accept(reply.raw as unknown as ServerResponse, upgrade, translatedProtocol, throttle);
  await new ExecTranslation(client, answer.socket, options).run(answer.head, end.signal, end.reason);
}

/** One command, translated between both protocols. */
class ExecTranslation {
  private readonly streams = new Map<number, ChannelName>();
  private readonly ids = new Map<ChannelName, number>();
  /** Streams from the agent that have not ended. */
  private readonly open = new Set<ChannelName>();
  private status: Buffer[] = [];
  private statusBytes = 0;
  private hasStdinEnded = false;

  constructor(
    private readonly client: ClientWebSocket,
    private readonly agent: Duplex,
    private readonly options: StreamOptions,
  ) {}

  async run(head: Buffer, signal: AbortSignal, reason: () => string | undefined): Promise<void> {
    const { agent, client } = this;
    const onAbort = () => {
      const why = reason();
      if (why === undefined) client.destroy();
      // A client that does not read the close reason must not keep the connection open.
      else client.destroySoon();
      agent.destroy();
    };
    agent.on('error', () => agent.destroy());
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    this.openStreams();
    const input = this.passInput();
    try {
      const fault = await this.passOutput(head);
      await this.sendResult(reason() ?? fault);
    } finally {
      agent.destroy();
      client.close(closeCodes.normal, '');
      await input;
      signal.removeEventListener('abort', onAbort);
    }
  }

  private openStreams(): void {
    const { stdin, stdout, stderr, tty } = this.options;
    const wanted: readonly (readonly [ChannelName, boolean])[] = [
      ['error', true],
      ['stdin', stdin === true],
      ['stdout', stdout === true],
      // A terminal has only one output.
      ['stderr', stderr === true && tty !== true],
      ['resize', tty === true],
    ];
    const headers = new SpdyHeaderWriter();
    let id = 1;
    for (const [name, isWanted] of wanted) {
      if (!isWanted) continue;
      this.streams.set(id, name);
      this.ids.set(name, id);
      if (name === 'error' || name === 'stdout' || name === 'stderr') this.open.add(name);
      this.agent.write(openFrame(id, headers.write({ streamtype: name })));
      id += 2;
    }
  }

  /** Forwards the client's input until the client leaves. */
  private async passInput(): Promise<void> {
    let channel: number | undefined;
    for await (const pieces of this.client.messages()) {
      const input = new Runs<'resize' | 'stdin'>();
      let isStdinOver = false;
      for (const { bytes, isFirst } of pieces) {
        if (isFirst) channel = undefined;
        if (bytes.length === 0) continue;
        const body = channel === undefined ? bytes.subarray(1) : bytes;
        channel ??= bytes[0] as number;
        if (channel === closeChannel) isStdinOver ||= body[0] === channels.stdin;
        else if (channel === channels.resize) input.add('resize', body);
        else if (channel === channels.stdin && !isStdinOver && !this.hasStdinEnded) input.add('stdin', body);
      }
      const frames = input.runs.flatMap(({ name, parts, size }) => {
        const id = this.ids.get(name);
        return id === undefined ? [] : [dataHead(id, size, false), ...parts];
      });
      if (isStdinOver) frames.push(...this.endOfStdin());
      if (frames.length > 0) await writeFully(this.agent, [Buffer.concat(frames)]);
    }
    // The client has left, so the command is no longer needed.
    this.agent.destroy();
  }

  private endOfStdin(): Buffer[] {
    const id = this.ids.get('stdin');
    if (id === undefined || this.hasStdinEnded) return [];
    this.hasStdinEnded = true;
    return [dataHead(id, 0, true)];
  }

  /** Forwards the agent's output until all of its streams have ended. Returns the error, if any. */
  private async passOutput(head: Buffer): Promise<string | undefined> {
    const reader = new SpdyReader();
    try {
      if (head.length > 0) await this.take(reader, head);
      if (this.open.size === 0) return undefined;
      for await (const chunk of this.agent) {
        await this.take(reader, chunk as Buffer);
        if (this.open.size === 0) return undefined;
        // Yields to other work, since more bytes may arrive without a pause.
        await nextTurn();
      }
    } catch (error) {
      if (error instanceof SpdyError) return `the node agent does not speak SPDY: ${error.message}`;
    }
    return this.open.has('error') ? 'the connection to the node agent was lost' : undefined;
  }

  /** Bytes that arrived together are sent together, whatever the number of frames. */
  private async take(reader: SpdyReader, chunk: Buffer): Promise<void> {
    const output = new Runs<'stderr' | 'stdout'>();
    const answers: Buffer[] = [];
    let fault: unknown;
    try {
      for (const event of reader.read(chunk)) this.takeEvent(event, output, answers);
    } catch (error) {
      fault = error;
    }
    if (answers.length > 0) await writeFully(this.agent, [Buffer.concat(answers)]);
    await this.client.send(...output.runs.map(({ name, parts }) => [Buffer.from([channels[name]]), ...parts]));
    if (fault !== undefined) throw fault;
  }

  private takeEvent(event: SpdyEvent, output: Runs<'stderr' | 'stdout'>, answers: Buffer[]): void {
    switch (event.type) {
      case 'data':
        this.pass(event.stream, event.bytes, output);
        if (event.isLast) this.endOf(event.stream);
        break;
      case 'reply':
        if (event.isLast) this.endOf(event.stream);
        break;
      case 'reset':
        this.endOf(event.stream);
        break;
      case 'open':
        // Streams that an agent opens are refused, since it has no reason to open any.
        answers.push(resetFrame(event.stream));
        break;
      case 'ping':
        // Odd ids would be replies to pings of this side, which sends none.
        if (event.id % 2 === 0) answers.push(pingFrame(event.id));
        break;
      case 'goaway':
        break;
    }
  }

  private pass(stream: number, bytes: Buffer, output: Runs<'stderr' | 'stdout'>): void {
    const name = this.streams.get(stream);
    if (bytes.length === 0 || name === undefined) return;
    if (name === 'stdout' || name === 'stderr') output.add(name, bytes);
    else if (name === 'error' && this.statusBytes < maxStatusBytes) {
      this.status.push(Buffer.from(bytes));
      this.statusBytes += bytes.length;
    }
  }

  private endOf(stream: number): void {
    const name = this.streams.get(stream);
    if (name !== undefined) this.open.delete(name);
  }

  /** Sends the client the status of the command that the agent reported, or the error. */
  private async sendResult(fault: string | undefined): Promise<void> {
    const text = Buffer.concat(this.status).toString('utf8').trim();
    const said = text.startsWith('{') ? text : undefined;
    const failed = said === undefined ? (fault ?? (text === '' ? undefined : text)) : undefined;
    const success = { metadata: {}, status: 'Success' };
    const answered = failed === undefined ? (said ?? JSON.stringify(success)) : errorText(failed);
    await this.client.send([Buffer.from([channels.error]), Buffer.from(answered)]);
  }
}

/** Bytes of several channels in order; consecutive bytes on one channel form one run. */
class Runs<Name extends ChannelName> {
  readonly runs: { readonly name: Name; readonly parts: Buffer[]; size: number }[] = [];

  add(name: Name, bytes: Buffer): void {
    if (bytes.length === 0) return;
    let run = this.runs.at(-1);
    if (run?.name !== name) {
      run = { name, parts: [], size: 0 };
      this.runs.push(run);
    }
    run.parts.push(bytes);
    run.size += bytes.length;
  }
}

function errorText(message: string): string {
  return JSON.stringify(new StatusError('InternalError', message).toStatus());
}
