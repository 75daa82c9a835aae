import type { Socket } from 'node:net';
import type { WrittenBatch } from '../postgres/written-batch.js';
import { type Frame, frameOf, HubChannel } from './hub-channel.js';
import type { HubMessage, HubRequest } from './hub-messages.js';
import { type SentBatch, sendBatch } from './sent-batch.js';

/**
 * A process with more unread bytes than this receives new versions without their content, and reads the content when it
 * can.
 */
const mostUnsentBytes = 32 * 1024 * 1024;
/** How long news of versions whose content a process does not follow may be held back, in milliseconds. */
const quietMs = 50;

/** A batch and its encoded messages, by the resources that each message leaves out. */
export interface BatchToSend {
  readonly written: WrittenBatch;
  readonly frames: Map<string, Frame>;
}

/**
 * The hub's end of the channel to a process. For resources that the process does not follow, the hub sends only the
 * versions. The process need not wake up for these, so they wait until there is something else to send. Every other
 * message is sent after them: a response never shows a version that the process has not heard of.
 */
export class HubClient {
  private readonly channel: HubChannel<HubMessage, HubRequest>;
  private readonly followed = new Set<string>();
  /** Consecutive batches without content, merged into one. */
  private passed: { readonly after: bigint; newest: bigint; readonly resources: Set<string> } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isGone = false;

  constructor(stream: Socket, onRequest: (request: HubRequest) => void, onClose: () => void) {
    this.channel = new HubChannel(stream, onRequest, () => {
      clearTimeout(this.timer);
      this.isGone = true;
      onClose();
    });
  }

  /** Whether the process has exited. */
  get isClosed(): boolean {
    return this.isGone;
  }

  send(message: HubMessage): void {
    this.sendPassed();
    this.channel.send(message);
  }

  close(): void {
    clearTimeout(this.timer);
    this.channel.close();
  }

  follow(resource: string, isFollowed: boolean): void {
    if (isFollowed) this.followed.add(resource);
    else this.followed.delete(resource);
  }

  sendBatch({ written, frames }: BatchToSend): void {
    const { newest, resources, stretch } = written;
    const withheld = stretch === undefined ? [] : [...resources].filter((resource) => !this.followed.has(resource));
    if (stretch !== undefined && withheld.length === resources.size) {
      this.pass(stretch.after, newest, resources);
      return;
    }
    this.sendPassed();
    if (this.channel.unsentBytes > mostUnsentBytes) {
      this.channel.send(['hint', newest, 'notify']);
      return;
    }
    const id = withheld.join();
    let frame = frames.get(id);
    if (frame === undefined) {
      frame = frameOf([['batch', sendBatch(written, withheld)] satisfies HubMessage]);
      frames.set(id, frame);
    }
    this.channel.sendFrame(frame);
  }

  private pass(after: bigint, newest: bigint, resources: Iterable<string>): void {
    if (this.passed?.newest !== after) {
      this.sendPassed();
      this.passed = { after, newest, resources: new Set(resources) };
    } else {
      this.passed.newest = newest;
      for (const resource of resources) this.passed.resources.add(resource);
    }
    this.timer ??= setTimeout(() => this.sendPassed(), quietMs);
  }

  private sendPassed(): void {
    const { passed } = this;
    if (passed === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.passed = undefined;
    const resources = [...passed.resources];
    const batch: SentBatch = [passed.newest, passed.after, resources, resources, []];
    this.channel.send(['batch', batch]);
  }
}
