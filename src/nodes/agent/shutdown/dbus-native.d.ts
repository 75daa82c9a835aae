/** The part of the package that the node agent uses. */
declare module 'dbus-native' {
  import type { EventEmitter } from 'node:events';

  export interface Message {
    readonly path?: string;
    readonly destination?: string;
    readonly interface?: string;
    readonly member?: string;
    readonly sender?: string;
    readonly signature?: string;
    readonly body?: readonly unknown[];
  }

  export interface MessageBus {
    readonly connection: EventEmitter;
    /** Calls a method of any service. */
    invoke(message: Message): PromiseLike<unknown>;
    /** Calls a method of the bus itself. */
    invokeDbus(message: Message): PromiseLike<unknown>;
    addMatch(rule: string): PromiseLike<void>;
    close(): Promise<void>;
  }

  const library: {
    /** @param options the address of the bus, and the time for each call in milliseconds */
    createClient(options: { readonly busAddress: string; readonly timeout: number }): MessageBus;
  };
  export default library;
}
